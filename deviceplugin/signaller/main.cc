// crossover-signaller tells the clients of one GPU when to look at their gates, or keeps such processes for
// all GPUs.
#include <cstdio>
#include <span>

#include "common/logging/log.h"
#include "deviceplugin/signaller/keeper.h"
#include "deviceplugin/signaller/options.h"
#include "deviceplugin/signaller/rest.h"
#include "deviceplugin/signaller/signaller.h"

int main(int argc, char** argv) {
  using namespace crossover;  // NOLINT(google-build-using-namespace)
  const auto result =
      signaller::ParseOptions(std::span<const char* const>(argv, static_cast<std::size_t>(argc)).subspan(1));
  if (std::holds_alternative<signaller::HelpWanted>(result)) return std::fputs(signaller::kHelp, stdout) < 0;
  if (std::holds_alternative<signaller::VersionWanted>(result)) {
    return std::puts("crossover-signaller " CROSSOVER_VERSION) < 0;
  }
  if (const auto* error = std::get_if<signaller::OptionError>(&result)) {
    std::fprintf(stderr, "crossover-signaller: %s\n", error->text.c_str());
    return 2;
  }
  const auto& options = std::get<signaller::Options>(result);
  std::string error;
  switch (options.role) {
    case signaller::Role::kKeep:
      return signaller::Keep(options);
    case signaller::Role::kListGpus:
      if (signaller::ListGpus(options, &error)) return 0;
      break;
    case signaller::Role::kSignal:
      if (options.resting) signaller::AwaitGpu(options);
      signaller::Signaller program(options);
      if (!program.Start(&error)) break;
      const auto why = program.Run();
      logging::Error(options.gpu_uuid + ": " + (why ? *why : signaller::BecomeResting(options)));
      return 1;
  }
  std::fprintf(stderr, "crossover-signaller: %s\n", error.c_str());
  return 2;
}
