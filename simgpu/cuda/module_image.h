// Parses the text form of a module image:
//
//   // simgpu 1
//   kernel NAME ns=N|arg [sms=M] [args=8,8,4] [fn=SYMBOL] [scaled] [spin]
//
// Each line is one kernel. Empty lines and lines that begin with // are skipped. `ns` is the duration at
// full speed; `arg` takes it from the first parameter (u64). `sms` is the number of SMs that the kernel
// asks for. Without it, the grid and block of each launch decide. `args` are the sizes of the parameters in
// bytes, by default 8 with ns=arg and none otherwise. `fn` names a function of the process, void fn(void*
// const* args), that is called for its effect. The machine's kernel_scale applies to the duration of a kernel
// with `scaled`. A kernel with `spin` holds its SMs until the 32-bit word at
// params[0] is cyclically at or past params[1] (u32), and at least for its duration. Its first parameters
// have 8 and 4 bytes; `args` may list more behind them.
//
// Pure: takes text and returns kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu {

// Stands in place of a number of SMs, for those that the blocks of the launch fill.
constexpr int kSmsOfGrid = 0;

// A KernelSpec is what one line of an image says.
struct KernelSpec {
  std::string name;
  std::uint64_t ns = 0;
  bool ns_is_argument = false;
  int sms = kSmsOfGrid;
  std::vector<std::size_t> argument_bytes;
  std::vector<std::size_t> argument_offsets;  // in a buffer of all parameters; as many
  std::string function;                       // empty if the kernel has none
  bool spin = false;
  bool scaled = false;
  bool by_rule = false;  // the machine's rules say what it costs; ns and sms say nothing
};

struct ModuleImage {
  std::vector<KernelSpec> kernels;
};

constexpr std::string_view kImageMagic = "// simgpu 1";

// Returns true if `text` begins with kImageMagic, whether or not the rest is well-formed.
bool LooksLikeImage(std::string_view text);

// Parses an image. If the text is malformed, returns no value and puts one line in *error that names the
// line and what is allowed.
std::optional<ModuleImage> ParseModuleImage(std::string_view text, std::string* error);

}  // namespace simgpu
