#include "deviceplugin/inventory/health.h"

#include <algorithm>
#include <array>

namespace crossover::deviceplugin {
namespace {

constexpr std::array kOfPrograms = {13u, 31u, 43u, 45u, 68u, 109u};
constexpr unsigned kRecoveryActionChanged = 154;
// For these Xids, NVIDIA's catalogue asks for a reset or a reboot. They are: uncorrectable memory errors,
// failed row remapping, NVLink errors, a GPU that has fallen off the bus, and a GPU system processor that
// does not answer.
constexpr std::array kNeedReset = {46u, 48u, 62u, 64u, 74u, 79u, 95u, 119u, 120u, 123u, 136u, 140u, 143u};

template <std::size_t count>
bool Among(const std::array<unsigned, count>& xids, unsigned xid) {
  return std::find(xids.begin(), xids.end(), xid) != xids.end();
}

}  // namespace

bool BlamesTheGpu(unsigned xid) { return !Among(kOfPrograms, xid) && xid != kRecoveryActionChanged; }

void Health::OnXid(const std::string& uuid, unsigned xid, Time now) {
  ++xids_[{uuid, xid}];
  if (!BlamesTheGpu(xid)) return;
  Gpu& gpu = gpus_[uuid];
  gpu.xid = xid;
  gpu.erred = now;
  gpu.needs_reset |= Among(kNeedReset, xid);
}

void Health::OnLook(const std::vector<Answer>& answers, Time now) {
  for (auto& [uuid, gpu] : gpus_) gpu.answers = false;
  for (const Answer& answer : answers) {
    Gpu& gpu = gpus_[answer.uuid];
    gpu.answers = true;
    gpu.wants_reset = answer.wants_reset;
    if (gpu.xid == 0 || now - gpu.erred < quiet_ || answer.wants_reset.value_or(gpu.needs_reset)) continue;
    gpu.xid = 0;
    gpu.needs_reset = false;
  }
}

std::optional<base::WithheldReason> Health::Fault(const std::string& uuid) const {
  using base::Withheld;
  const auto found = gpus_.find(uuid);
  if (found == gpus_.end()) return std::nullopt;
  const Gpu& gpu = found->second;
  if (!gpu.answers) return base::WithheldReason{Withheld::kNoAnswer, "it does not answer"};
  if (gpu.wants_reset.value_or(false))
    return base::WithheldReason{Withheld::kWantsReset, "the driver wants it reset"};
  if (gpu.xid == 0) return std::nullopt;
  const bool restart = gpu.needs_reset && !gpu.wants_reset;
  return base::WithheldReason{
      Withheld::kXid,
      "Xid " + std::to_string(gpu.xid) +
          (restart ? ": reset the GPU and then restart this daemon, or reboot the node" : "")};
}

}  // namespace crossover::deviceplugin
