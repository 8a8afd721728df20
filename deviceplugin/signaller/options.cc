#include "deviceplugin/signaller/options.h"

#include <string_view>

#include "common/base/job_environment.h"
#include "common/base/refusal.h"
#include "deviceplugin/arbiter/messages.h"

namespace crossover::signaller {

const char kHelp[] =
    R"(crossover-signaller: tells the clients of one GPU, in its memory, when to look at their gates

  --gpu UUID       the GPU, GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx
  --socket PATH    the arbiter's socket (default /run/crossover/arbiter.sock)
  --no-mps FOLDER  an empty folder: the driver finds no control daemon of MPS there (default /run/crossover/no-mps)
  --help, --version
)";

OptionResult ParseOptions(std::span<const char* const> arguments) {
  Options options;
  for (; !arguments.empty(); arguments = arguments.subspan(2)) {
    const std::string_view name = arguments[0];
    if (name == "--help") return HelpWanted{};
    if (name == "--version") return VersionWanted{};
    std::string* value = name == "--gpu"      ? &options.gpu_uuid
                         : name == "--socket" ? &options.socket
                         : name == "--no-mps" ? &options.no_mps
                                              : nullptr;
    if (value == nullptr) return OptionError{base::Shown(name) + ": unknown option; --help lists them"};
    if (arguments.size() < 2) return OptionError{base::Refusal(name, "a value", "none")};
    *value = arguments[1];
  }
  if (!arbiter::ValidGpuUuid(options.gpu_uuid)) {
    return OptionError{
        base::Refusal("--gpu", "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", base::Shown(options.gpu_uuid))};
  }
  if (!base::IsSocket(options.socket.c_str()) || options.socket[0] != '/') {
    return OptionError{
        base::Refusal("--socket", "an absolute path of at most 107 bytes", base::Shown(options.socket))};
  }
  if (options.no_mps.empty() || options.no_mps[0] != '/') {
    return OptionError{base::Refusal("--no-mps", "an absolute path", base::Shown(options.no_mps))};
  }
  return options;
}

}  // namespace crossover::signaller
