#include "cli/mode/mode.h"

#include <cstdio>

#include "cli/node/client.h"
#include "cli/render/print.h"
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
  std::string text = "mode " + response.mode() + ", was " + response.mode_before() +
                     "; configured: " + response.mode_configured() + "\n";
  if (!response.mode_limited_by().empty()) text += "limited by: " + response.mode_limited_by() + "\n";
  return Print(text) ? 0 : 1;
}

}  // namespace crossover::cli
