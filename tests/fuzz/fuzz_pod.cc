// libs: crossover::pods
// Parses a pod as an API server may send it, and makes all that is made of one.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/base/job_environment.h"
#include "common/kube/profile_key.h"
#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/pods/identity.h"
#include "deviceplugin/pods/pod_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  crossover::deviceplugin::PodTable table;
  table.OnChange(object);
  table.OnList(object);
  table.OnChange(object);
  for (const auto& pod : table.All()) {
    if (!crossover::arbiter::ValidGangName(GangOf(pod))) std::abort();
    if (HelloOf(pod, {}).gang.empty()) std::abort();
    AssignmentOf(pod);
    if (pod.profile_key.size() > crossover::kube::kLongestProfileKey) std::abort();
    if (pod.requests.milli_cpu < 0 || pod.requests.memory_bytes < 0) std::abort();
  }
  table.AssignedTo(1, {});
  table.OnDelete(object);
  return 0;
}
