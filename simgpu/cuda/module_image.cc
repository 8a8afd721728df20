#include "simgpu/cuda/module_image.h"

#include <algorithm>
#include <charconv>

namespace simgpu {
namespace {

constexpr std::uint64_t kMaxNs = 3'600'000'000'000;  // an hour
constexpr std::uint64_t kMaxSms = 1024;
constexpr std::uint64_t kMaxArgumentBytes = 4096;
constexpr std::size_t kMaxArguments = 64;

// Removes the part up to `separator` from *rest and returns it.
std::string_view Next(std::string_view* rest, char separator) {
  const std::size_t end = std::min(rest->find(separator), rest->size());
  const std::string_view piece = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return piece;
}

bool ReadNumber(std::string_view text, std::uint64_t low, std::uint64_t high, std::uint64_t* value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return problem == std::errc() && end == text.data() + text.size() && *value >= low && *value <= high;
}

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= 1024 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

bool ReadArguments(std::string_view list, std::vector<std::size_t>* sizes) {
  sizes->clear();
  while (!list.empty()) {
    std::uint64_t bytes = 0;
    if (!ReadNumber(Next(&list, ','), 1, kMaxArgumentBytes, &bytes) || sizes->size() == kMaxArguments)
      return false;
    sizes->push_back(bytes);
  }
  return true;
}

// Reads one word of a kernel's line. Returns what is wrong with it, or an empty string.
std::string ReadWord(std::string_view word, KernelSpec* kernel, bool* has_ns, bool* has_args) {
  std::string_view value = word;
  const std::string_view key = Next(&value, '=');
  std::uint64_t number = 0;
  if (key == "ns") {
    *has_ns = true;
    kernel->ns_is_argument = value == "arg";
    if (kernel->ns_is_argument) return {};
    if (!ReadNumber(value, 0, kMaxNs, &kernel->ns))
      return "ns is 'arg' or a whole number up to 3600000000000";
  } else if (key == "sms") {
    if (!ReadNumber(value, 1, kMaxSms, &number)) return "sms is a whole number from 1 to 1024";
    kernel->sms = static_cast<int>(number);
  } else if (key == "args") {
    *has_args = true;
    if (!ReadArguments(value, &kernel->argument_bytes))
      return "args is a list of sizes from 1 to 4096, at most 64";
  } else if (key == "fn") {
    if (!IsName(value)) return "fn is the name of a function";
    kernel->function = value;
  } else if (word == "scaled") {
    kernel->scaled = true;
  } else if (word == "spin") {
    kernel->spin = true;
  } else {
    return "known words are ns=, sms=, args=, fn=, scaled and spin";
  }
  return {};
}

// Places each parameter behind the one before, aligned as its size asks for.
void PlaceArguments(KernelSpec* kernel) {
  std::size_t end = 0;
  for (const std::size_t size : kernel->argument_bytes) {
    const std::size_t alignment = size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
    kernel->argument_offsets.push_back((end + alignment - 1) / alignment * alignment);
    end = kernel->argument_offsets.back() + size;
  }
}

std::string ReadKernel(std::string_view line, KernelSpec* kernel) {
  if (Next(&line, ' ') != "kernel")
    return "a line is 'kernel NAME ns=N|arg [sms=M] [args=8,8,4] [fn=SYMBOL] [scaled] [spin]'";
  const std::string_view name = Next(&line, ' ');
  if (!IsName(name)) return "the kernel has no name of 1 to 1024 printable characters";
  kernel->name = name;
  bool has_ns = false, has_args = false;
  while (!line.empty()) {
    const std::string_view word = Next(&line, ' ');
    if (word.empty()) continue;
    std::string problem = ReadWord(word, kernel, &has_ns, &has_args);
    if (!problem.empty()) return "'" + std::string(word) + "': " + problem;
  }
  if (!has_ns) return "ns= is missing";
  if (kernel->spin && kernel->ns_is_argument) return "a spinning kernel takes its word, not ns, as parameter";
  if (!has_args && kernel->ns_is_argument) kernel->argument_bytes = {8};
  if (!has_args && kernel->spin) kernel->argument_bytes = {8, 4};
  const auto& sizes = kernel->argument_bytes;
  if (kernel->ns_is_argument && (sizes.empty() || sizes[0] != 8))
    return "ns=arg needs a first parameter of 8 bytes";
  if (kernel->spin && (sizes.size() < 2 || sizes[0] != 8 || sizes[1] != 4)) {
    return "spin needs first parameters of 8 and 4 bytes";
  }
  PlaceArguments(kernel);
  return {};
}

}  // namespace

bool LooksLikeImage(std::string_view text) { return text.substr(0, kImageMagic.size()) == kImageMagic; }

std::optional<ModuleImage> ParseModuleImage(std::string_view text, std::string* error) {
  ModuleImage image;
  int number = 0;
  while (!text.empty()) {
    std::string_view line = Next(&text, '\n');
    ++number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (number == 1 && line != kImageMagic) {
      *error = "line 1: an image begins with '// simgpu 1'";
      return std::nullopt;
    }
    if (line.empty() || line.substr(0, 2) == "//") continue;
    KernelSpec kernel;
    const std::string problem = ReadKernel(line, &kernel);
    const bool twice = std::any_of(image.kernels.begin(), image.kernels.end(),
                                   [&](const KernelSpec& other) { return other.name == kernel.name; });
    if (!problem.empty() || twice) {
      *error =
          "line " + std::to_string(number) + ": " + (twice ? "kernel '" + kernel.name + "' twice" : problem);
      return std::nullopt;
    }
    image.kernels.push_back(kernel);
  }
  if (number == 0) {
    *error = "line 1: an image begins with '// simgpu 1'";
    return std::nullopt;
  }
  return image;
}

}  // namespace simgpu
