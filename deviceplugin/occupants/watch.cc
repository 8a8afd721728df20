#include "deviceplugin/occupants/watch.h"

#include <utility>

#include "common/base/clock.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::seconds kPeriod{2};

}  // namespace

OccupantWatch::OccupantWatch(Sources sources)
    : sources_(std::move(sources)), rounds_("xo-occupants", kPeriod, [this] { Round(); }) {}

void OccupantWatch::Round() {
  std::string why;
  if (nvml_ == nullptr) nvml_ = NvmlLibrary::Load(sources_.driver, &why);
  const auto known = sources_.known();
  if (nvml_ == nullptr || !known) return;
  auto occupants = LookForOccupants(*nvml_, sources_.gpu_uuids(), sources_.cgroup_root, found_);
  if (!occupants) {  // what was found last stands; a driver that was loaded anew wants to be asked anew
    nvml_.reset();
    return;
  }
  found_ = std::move(*occupants);
  auto verdicts = judge_.Judge(found_, *known, base::MonotonicNs());
  for (Occupant& occupant : verdicts.unhooked)
    occupant.has_library = HasLibrary(occupant.pid, sources_.library);
  sources_.on_judged(verdicts);
  const std::lock_guard lock(mutex_);
  verdicts_ = std::move(verdicts);
}

OccupantJudge::Verdicts OccupantWatch::verdicts() const {
  const std::lock_guard lock(mutex_);
  return verdicts_;
}

}  // namespace crossover::deviceplugin
