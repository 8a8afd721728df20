#include "cli/cluster/rounds.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "cli/render/print.h"

namespace crossover::cli {
namespace {

constexpr char kClearScreen[] = "\033[H\033[2J";

}  // namespace

int ShowRounds(const char* command, const Showing& showing,
               const std::function<std::optional<Answer>(std::string* error)>& ask) {
  const auto& [format, watch_s] = showing;
  const bool people = format == Format::kText || format == Format::kWide;
  const std::string clear = watch_s && people && isatty(STDOUT_FILENO) != 0 ? kClearScreen : "";
  for (bool first = true;;) {
    std::string error;
    int code = 1;
    if (const auto answer = ask(&error)) {
      if (!Print(clear + (watch_s ? ShownAgain(answer->value, answer->text, format, first)
                                  : Shown(answer->value, answer->text, format))))
        return 1;
      if (!answer->note.empty()) std::fprintf(stderr, "%s\n", answer->note.c_str());
      first = false;
      code = answer->code;
    } else {
      std::fprintf(stderr, "crossover %s: %s\n", command, error.c_str());
    }
    if (!watch_s) return code;
    std::this_thread::sleep_for(std::chrono::duration<double>(*watch_s));
  }
}

}  // namespace crossover::cli
