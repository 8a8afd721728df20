#include "cli/profiles/profiles.h"

#include <chrono>
#include <cstdio>

#include "cli/node/client.h"
#include "cli/profiles/table.h"
#include "cli/render/json.h"
#include "cli/render/print.h"
#include "proto/crossover_node.pb.h"

namespace crossover::cli {

int Profiles(const ProfilesOptions& options) {
  NodeClient client(options.socket);
  node::v1::ListProfilesResponse response;
  if (const std::string error = client.ListProfiles(&response); !error.empty()) {
    std::fprintf(stderr, "crossover profiles: %s\n", error.c_str());
    return 1;
  }
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  const std::string text = options.json ? Json(response, true) : ProfilesTable(response, now.count());
  return Print(text) ? 0 : 1;
}

}  // namespace crossover::cli
