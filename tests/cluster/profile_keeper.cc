// Keeps the JobProfiles of a cluster, as the extender's leader does: profile_keeper SERVER CA_FILE TOKEN_FILE.
// Looks at the GPUNodes twice a second.
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "common/kube/json.h"
#include "extender/profiles/keeper.h"
#include "extender/profiles/reports.h"

namespace {

using crossover::extender::GpuNode;

std::optional<std::vector<GpuNode::Job>> JobsIn(const crossover::kube::Client& client) {
  const auto response = client.Get("/apis/crossover.dev/v1alpha1/gpunodes");
  const auto list = nlohmann::json::parse(response.body, nullptr, false);
  const auto& items = crossover::kube::At(list, "items");
  if (response.status != 200 || !items.is_array()) return std::nullopt;
  std::vector<GpuNode::Job> jobs;
  for (const auto& item : items) {
    const auto of_node = crossover::extender::JobsOf(item);
    jobs.insert(jobs.end(), of_node.begin(), of_node.end());
  }
  return jobs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const crossover::kube::Access access{.server = argv[1], .ca_file = argv[2], .token_file = argv[3]};
  const crossover::kube::Client client(access);
  const crossover::extender::ProfileKeeper keeper(access, {},
                                                  {.leads = [] { return true; },
                                                   .jobs = [&client] { return JobsIn(client); },
                                                   .period = std::chrono::milliseconds(500),
                                                   .now_s = {}});
  for (;;) pause();
}
