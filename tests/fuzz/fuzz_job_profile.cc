// libs: crossover_profiles_extender
// Parses a JobProfile, in which a user may have written anything.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "extender/profiles/figures.h"
#include "extender/profiles/merge.h"
#include "extender/profiles/objects.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace crossover::extender;
  const auto read = ParseRecord(nlohmann::json::parse(data, data + size, nullptr, false));
  if (!read) return 0;
  const auto& [id, record] = *read;
  if (record.runs.size() > kMostRuns || record.meetings.size() > kMostMeetings) __builtin_trap();
  const ProfileFigures figures = FiguresOf(record, {});
  if (!(figures.compute_s >= 0) || !(figures.exposed_s >= 0)) __builtin_trap();
  if (!ParseRecord(StatusBody(id, record, {}))) __builtin_trap();
  return 0;
}
