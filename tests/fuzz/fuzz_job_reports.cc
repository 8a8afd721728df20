// libs: crossover_profiles_extender
// Merges what a node says of its jobs, and writes it as JobProfiles. What was written reads as the same
// again.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "extender/profiles/changes.h"
#include "extender/profiles/merge.h"
#include "extender/profiles/objects.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace crossover::extender;
  const auto node = nlohmann::json::parse(data, data + size, nullptr, false);
  const auto jobs = crossover::api::JobsOf(node);
  const ProfileSettings settings;
  PodOrder order;
  for (const GpuNode::Job& job : jobs) {
    for (const NcclCall& call : job.communication)
      order.emplace(PodName(job.name_space, call.pod), order.size());
  }
  const ProfileRecords merged = Merge({}, jobs, 2e9, settings, order);
  for (const ProfileChange& change : ChangesOf({}, merged, 2e9, settings)) {
    auto object = ObjectBody(change.id, change.record.name);
    object["status"] = StatusBody(change.id, change.record, settings)["status"];
    auto profile = crossover::api::ParseJobProfile(object);
    if (!profile) __builtin_trap();
    const auto read = RecordOf(*std::move(profile));
    if (read.first != change.id) __builtin_trap();
    if (StatusBody(change.id, read.second, settings)["status"]["runs"] != object["status"]["runs"])
      __builtin_trap();
    if (read.second.communication.groups != change.record.communication.groups) __builtin_trap();
  }
  return 0;
}
