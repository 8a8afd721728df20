// The text form of a module image:
//
//   // simgpu 1
//   kernel NAME ns=N|arg [sms=M] [args=8,8,4] [fn=SYMBOL] [spin]
//
// One kernel per line; empty lines and lines that begin with // are skipped. `ns` is the duration at full
// speed, `arg` takes it from the first parameter (u64). `sms` are the SMs that it asks for; where they are
// not given, the grid and block of each launch say it. `args` are the sizes of the parameters in bytes, by
// default 8 with ns=arg and none otherwise. `fn` names a function of the process, void fn(void* const* args),
// called for its effect. `spin`: the kernel holds its SMs until the 32-bit word at params[0] is cyclically at
// or past params[1] (u32), and at least for its duration; its parameters are then 8 and 4 bytes, and those of
// `args` after them.
//
// Pure: text in, kernels out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu {

// In place of a number of SMs: those that the blocks of the launch fill.
constexpr int kSmsOfGrid = 0;

struct KernelSpec {
  std::string name;
  std::uint64_t ns = 0;
  bool ns_is_argument = false;
  int sms = kSmsOfGrid;
  std::vector<std::size_t> argument_bytes;
  std::string function;  // empty: none
  bool spin = false;
};

struct ModuleImage {
  std::vector<KernelSpec> kernels;
};

constexpr std::string_view kImageMagic = "// simgpu 1";

// True when `text` announces itself as such an image, well-formed or not.
bool LooksLikeImage(std::string_view text);

// No value, and one line in *error naming the line and what is allowed, when the text is malformed.
std::optional<ModuleImage> ParseModuleImage(std::string_view text, std::string* error);

}  // namespace simgpu
