// libs: crossover_profiles_extender
// Parses a JobProfile, in which a user may have written anything.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "extender/profiles/figures.h"
#include "extender/profiles/flows.h"
#include "extender/profiles/objects.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace crossover::extender;
  auto profile = crossover::api::ParseJobProfile(nlohmann::json::parse(data, data + size, nullptr, false));
  if (!profile) return 0;
  const auto [id, record] = RecordOf(*std::move(profile));
  if (record.runs.size() > kMostRuns || record.meetings.size() > kMostMeetings) __builtin_trap();
  const ProfileFigures figures = FiguresOf(record, {});
  if (!(figures.compute_s >= 0) || !(figures.exposed_s >= 0)) __builtin_trap();
  if (const auto flows = FlowsOf(record.communication.groups)) {
    for (const auto& flow : *flows) {
      const int pods = record.communication.pods;
      if (flow.from < 0 || flow.from >= pods || flow.to < 0 || flow.to >= pods) __builtin_trap();
    }
  }
  if (!crossover::api::ParseJobProfile(StatusBody(id, record, {}))) __builtin_trap();
  return 0;
}
