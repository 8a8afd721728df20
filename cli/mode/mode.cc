#include "cli/mode/mode.h"

#include <cstdio>

#include "cli/node/client.h"
#include "proto/crossover_node.pb.h"

namespace crossover::cli {

int SwitchMode(const std::string& socket, const std::string& to) {
  node::v1::SetModeRequest request;
  if (to == "off") request.set_mode(node::v1::MODE_OFF);
  if (to == "observe") request.set_mode(node::v1::MODE_OBSERVE);
  if (to == "enforce") request.set_mode(node::v1::MODE_ENFORCE);
  if (to == "configured") request.set_configured(true);
  node::v1::SetModeResponse response;
  NodeClient client(socket);
  if (const std::string error = client.SetMode(request, &response); !error.empty()) {
    std::fprintf(stderr, "crossover mode: %s\n", error.c_str());
    return 1;
  }
  std::printf("mode %s, was %s; configured: %s\n", response.mode().c_str(), response.mode_before().c_str(),
              response.mode_configured().c_str());
  if (!response.mode_limited_by().empty())
    std::printf("no more than that: %s\n", response.mode_limited_by().c_str());
  return 0;
}

}  // namespace crossover::cli
