#include "deviceplugin/signaller/options.h"

#include <string_view>
#include <utility>

#include "common/base/job_environment.h"
#include "common/base/refusal.h"
#include "deviceplugin/arbiter/client_messages.h"

namespace crossover::signaller {

const char kHelp[] =
    R"(crossover-signaller: tells the clients of one GPU, in its memory, when to look at their gates

  --gpu UUID       the GPU, GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx
  --each-gpu N     instead: runs N signallers, 1 to 4, for each GPU of this machine, and starts those again that end.
                   One of a GPU works, and the others stand ready
  --resting        beside --gpu: does not use the GPU until the arbiter lets it
  --list-gpus      instead: writes the UUIDs of this machine's GPUs
  --socket PATH    the arbiter's socket (default /run/crossover/arbiter.sock)
  --no-mps FOLDER  an empty folder: the driver finds no control daemon of MPS there (default /run/crossover/no-mps)
  --help, --version
)";

namespace {

constexpr char kRoles[] = "--gpu UUID, --each-gpu N or --list-gpus";

// Checks the options as a whole. Returns "" if they are good.
std::string Fault(const Options& options, int roles, std::string_view count) {
  if (roles != 1) return base::Refusal("options", std::string("one of ") + kRoles, std::to_string(roles));
  if (options.role == Role::kSignal && !arbiter::ValidGpuUuid(options.gpu_uuid))
    return base::Refusal("--gpu", "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", base::Shown(options.gpu_uuid));
  if (options.role == Role::kKeep && options.count == 0)
    return base::Refusal("--each-gpu", "a whole number from 1 to 4", base::Shown(count));
  if (options.resting && options.role != Role::kSignal)
    return base::Refusal("--resting", "beside --gpu", "without it");
  if (!base::IsSocket(options.socket.c_str()) || options.socket[0] != '/')
    return base::Refusal("--socket", "an absolute path of at most 107 bytes", base::Shown(options.socket));
  if (options.no_mps.empty() || options.no_mps[0] != '/')
    return base::Refusal("--no-mps", "an absolute path", base::Shown(options.no_mps));
  return "";
}

}  // namespace

OptionResult ParseOptions(std::span<const char* const> arguments) {
  Options options;
  std::string count;
  int roles = 0;
  while (!arguments.empty()) {
    const std::string_view name = arguments[0];
    arguments = arguments.subspan(1);
    if (name == "--help") return HelpWanted{};
    if (name == "--version") return VersionWanted{};
    roles += name == "--gpu" || name == "--each-gpu" || name == "--list-gpus";
    if (name == "--list-gpus") {
      options.role = Role::kListGpus;
      continue;
    }
    if (name == "--resting") {
      options.resting = true;
      continue;
    }
    std::string* value = name == "--gpu"        ? &options.gpu_uuid
                         : name == "--each-gpu" ? &count
                         : name == "--socket"   ? &options.socket
                         : name == "--no-mps"   ? &options.no_mps
                                                : nullptr;
    if (value == nullptr) return OptionError{base::Shown(name) + ": unknown option; --help lists them"};
    if (arguments.empty()) return OptionError{base::Refusal(name, "a value", "none")};
    *value = arguments[0];
    arguments = arguments.subspan(1);
    if (name == "--each-gpu") options.role = Role::kKeep;
  }
  if (count.size() == 1 && count[0] >= '1' && count[0] <= '0' + kMostSignallers)
    options.count = count[0] - '0';
  if (std::string fault = Fault(options, roles, count); !fault.empty()) return OptionError{std::move(fault)};
  return options;
}

}  // namespace crossover::signaller
