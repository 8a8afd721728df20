#include "cli/top/top.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "cli/node/client.h"
#include "cli/render/json.h"
#include "cli/render/print.h"
#include "cli/top/table.h"
#include "proto/crossover_node.pb.h"

namespace crossover::cli {
namespace {

constexpr char kClearScreen[] = "\033[H\033[2J";

}  // namespace

int Top(const TopOptions& options) {
  NodeClient client(options.socket);
  const bool clear = options.watch_s && !options.json && isatty(STDOUT_FILENO) != 0;
  for (;;) {
    node::v1::Top top;
    if (const std::string error = client.GetTop(&top); !error.empty()) {
      std::fprintf(stderr, "crossover top: %s\n", error.c_str());
      return 1;
    }
    const std::string text =
        options.json ? Json(top, !options.watch_s) + (options.watch_s ? "\n" : "") : TopTable(top);
    if (!Print((clear ? kClearScreen : "") + text)) return 1;
    if (!options.watch_s) return 0;
    std::this_thread::sleep_for(std::chrono::duration<double>(*options.watch_s));
  }
}

}  // namespace crossover::cli
