// crossover-arbiter is the daemon that needs only libc and libstdc++.
#include <cstdio>
#include <span>

#include "deviceplugin/config/flags.h"
#include "deviceplugin/daemon.h"

int main(int argc, char** argv) {
  using namespace crossover::deviceplugin;
  const FlagResult flags =
      ParseFlags(std::span<const char* const>(argv, static_cast<std::size_t>(argc)).subspan(1));
  if (std::holds_alternative<HelpWanted>(flags)) return std::fputs(kFlagHelp, stdout) < 0;
  if (std::holds_alternative<VersionWanted>(flags))
    return std::puts("crossover-arbiter " CROSSOVER_VERSION) < 0;
  if (const auto* error = std::get_if<FlagError>(&flags)) {
    std::fprintf(stderr, "crossover-arbiter: %s\n", error->text.c_str());
    return 2;
  }
  Daemon daemon(std::get<Config>(flags));
  std::string error;
  if (!daemon.Start({}, &error)) {
    std::fprintf(stderr, "crossover-arbiter: %s\n", error.c_str());
    return 2;
  }
  daemon.Run(nullptr);
  return 0;
}
