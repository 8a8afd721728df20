#include "simgpu/image/ptx.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "common/base/refusal.h"
#include "simgpu/image/ptx_words.h"

namespace simgpu::image {
namespace {

constexpr std::uint64_t kMostParameterBytes = 32764;
constexpr std::uint64_t kMostVariableBytes = std::uint64_t{1} << 40;
constexpr std::uint32_t kMostAlignment = 128;

std::optional<std::uint64_t> Number(std::string_view word) {
  const bool hex = word.substr(0, 2) == "0x" || word.substr(0, 2) == "0X";
  if (hex) word.remove_prefix(2);
  if (!word.empty() && word.back() == 'U') word.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value, hex ? 16 : 10);
  if (problem != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Returns the bytes of a type, or of a vector (.v4), or 0 if the word is no such directive: the digits behind
// its first letters are bits.
std::uint32_t TypeBytes(std::string_view word) {
  for (const std::string_view opaque : {".texref", ".samplerref", ".surfref"}) {
    if (word == opaque) return 8;
  }
  for (const std::string_view letters : {".b", ".u", ".s", ".f", ".bf"}) {
    if (word.substr(0, letters.size()) != letters) continue;
    std::string_view bits = word.substr(letters.size());
    const bool pair = bits.size() > 2 && bits.substr(bits.size() - 2) == "x2";
    if (pair) bits.remove_suffix(2);
    const std::uint64_t number = Number(bits).value_or(0);
    if (number == 8 || number == 16 || number == 32 || number == 64 || number == 128)
      return static_cast<std::uint32_t>(number / 8 * (pair ? 2 : 1));
  }
  return 0;
}

std::uint32_t VectorLength(std::string_view word) {
  return word == ".v2" ? 2 : word == ".v4" ? 4 : word == ".v8" ? 8 : 0;
}

// Returns 90 for sm_90, sm_90a and sm_90f, and 0 if the word is no such target.
int ArchitectureOfTarget(std::string_view word) {
  if (word.substr(0, 3) != "sm_") return 0;
  word.remove_prefix(3);
  if (!word.empty() && (word.back() == 'a' || word.back() == 'f')) word.remove_suffix(1);
  const std::uint64_t number = Number(word).value_or(0);
  return number <= 999 ? static_cast<int>(number) : 0;
}

// A Declared is what a declaration of a parameter or variable says.
struct Declared {
  std::string name;
  std::uint32_t element = 0;  // bytes of an element, all of its vector
  std::uint64_t bytes = 0;
  std::uint32_t alignment = 0;
};

// A Reader reads one text. Each function returns what is expected in place of what stands there, or an empty
// text.
class Reader {
 public:
  explicit Reader(std::string_view text) : words_(text) {}

  std::optional<Image> Read(std::string* error) {
    for (std::string_view word = words_.Next(); !word.empty(); word = words_.Next()) {
      const std::string expected = ReadDirective(word);
      if (expected.empty()) continue;
      *error = crossover::base::Refusal("PTX line " + std::to_string(words_.line()), expected,
                                        "'" + crossover::base::Shown(words_.Peek()) + "'");
      return std::nullopt;
    }
    return std::move(image_);
  }

 private:
  std::string ReadDirective(std::string_view word) {
    const bool external = external_;
    external_ = word == ".extern" || (external && word != ";");
    if (word == "{" || word == "(" || word == "[") {
      return words_.SkipGroup(word.front()) ? "" : "the end of what '" + std::string(word) + "' begins";
    }
    if (word == ".target") return ReadTarget();
    if (word == ".entry") return ReadEntry();
    if ((word == ".global" || word == ".const") && !external) return ReadVariables();
    return {};
  }

  std::string ReadTarget() {
    image_.architecture = ArchitectureOfTarget(words_.Next());
    return image_.architecture == 0 ? "a target such as sm_90" : "";
  }

  // Reads a declaration up to and with its name and the sizes of its array.
  std::string ReadDeclared(std::uint64_t most, Declared* declared) {
    std::uint32_t type = 0, vector = 1;
    bool pointer = false;
    while (words_.Peek().substr(0, 1) == ".") {
      const std::string_view word = words_.Next();
      if (word == ".ptr") pointer = true;  // what follows says something about the memory to which it points
      if (const std::uint32_t length = VectorLength(word); length != 0) vector = length;
      if (const std::uint32_t bytes = TypeBytes(word); bytes != 0) type = bytes;
      if (word != ".align") continue;
      const auto alignment = Number(words_.Peek());
      if (!alignment || *alignment == 0 || *alignment > kMostAlignment) return "an alignment from 1 to 128";
      words_.Next();
      if (!pointer) declared->alignment = static_cast<std::uint32_t>(*alignment);
    }
    if (type == 0) return "a type in front of the name";
    declared->element = type * vector;
    declared->alignment = std::max(declared->alignment, declared->element);
    return ReadName(most, declared);
  }

  std::string ReadName(std::uint64_t most, Declared* declared) {
    if (!IsName(words_.Peek())) return "a name";
    declared->name = words_.Next();
    declared->bytes = declared->element;
    while (words_.Peek() == "[") {
      words_.Next();
      const auto count = Number(words_.Peek());
      if (!count || *count > most / std::max<std::uint64_t>(declared->bytes, 1))
        return "a number of elements";
      declared->bytes *= *count;
      words_.Next();
      if (words_.Peek() != "]") return "']' behind a number of elements";
      words_.Next();
    }
    return {};
  }

  static bool IsName(std::string_view word) {
    return !word.empty() && (std::isalpha(static_cast<unsigned char>(word.front())) != 0 ||
                             word.front() == '_' || word.front() == '$' || word.front() == '%');
  }

  std::string ReadEntry() {
    KernelImage kernel;
    if (!IsName(words_.Peek())) return "the name of a kernel behind .entry";
    kernel.name = words_.Next();
    if (words_.Peek() == "(") {
      words_.Next();
      if (std::string expected = ReadParameters(&kernel); !expected.empty()) return expected;
    }
    for (std::string_view word = words_.Next(); word != "{"; word = words_.Next()) {
      if (word == ";") return {};  // only declares it
      if (word.empty()) return "the body of kernel '" + crossover::base::Shown(kernel.name) + "'";
      if (word == ".maxntid" || word == ".reqntid") ReadMostThreads(&kernel);
    }
    if (!words_.SkipGroup('{')) return "the end of kernel '" + crossover::base::Shown(kernel.name) + "'";
    image_.kernels.push_back(std::move(kernel));
    return {};
  }

  std::string ReadParameters(KernelImage* kernel) {
    std::uint64_t end = 0;
    while (words_.Peek() != ")") {
      if (words_.Next() != ".param") return "'.param' in the list of kernel '" + kernel->name + "'";
      Declared declared;
      if (std::string expected = ReadDeclared(kMostParameterBytes, &declared); !expected.empty())
        return expected;
      end = (end + declared.alignment - 1) / declared.alignment * declared.alignment;
      kernel->parameters.push_back(
          {static_cast<std::uint32_t>(end), static_cast<std::uint32_t>(declared.bytes)});
      end += declared.bytes;
      if (end > kMostParameterBytes) return "parameters of 32764 bytes at most";
      if (words_.Peek() == ",") words_.Next();
    }
    words_.Next();
    return {};
  }

  void ReadMostThreads(KernelImage* kernel) {
    std::uint64_t threads = 1;
    for (int i = 0; i < 3; ++i) {
      const auto size = Number(words_.Peek());
      if (!size) break;
      threads *= std::clamp<std::uint64_t>(*size, 1, 1024);
      words_.Next();
      if (words_.Peek() == ",") words_.Next();
    }
    kernel->most_threads = static_cast<int>(std::min<std::uint64_t>(threads, 1024));
  }

  // Reads the variables of one declaration, which commas divide.
  std::string ReadVariables() {
    Declared declared;
    std::string expected = ReadDeclared(kMostVariableBytes, &declared);
    while (expected.empty()) {
      GlobalImage variable{declared.name, declared.bytes, {}};
      if (words_.Peek() == "=") {
        words_.Next();
        if (!ReadInitial(declared.element, &variable))
          return "the end of the value of '" + declared.name + "'";
      }
      image_.globals.push_back(std::move(variable));
      const std::string_view word = words_.Next();
      if (word == ";") return {};
      if (word != ",") return "',' or ';' behind a variable";
      expected = ReadName(kMostVariableBytes, &declared);
    }
    return expected;
  }

  // Reads a first value: a number, or numbers in braces. Any other value, such as an address, counts as
  // zeros.
  bool ReadInitial(std::uint32_t element, GlobalImage* variable) {
    std::vector<std::uint8_t> initial;
    bool plain = element <= 8, negative = false;
    int depth = 0;
    for (std::string_view word = words_.Peek(); depth > 0 || (word != "," && word != ";");
         word = words_.Peek()) {
      if (word.empty()) return false;
      words_.Next();
      if (word == "{") plain = ++depth == 1 && plain;
      if (word == "}") --depth;
      if (word == "-") negative = true;
      if (word == "{" || word == "}" || word == "," || word == "-") continue;
      const auto value = Value(word);
      plain = plain && value && initial.size() + element <= variable->bytes;
      if (!plain) continue;
      const std::uint64_t bits = negative ? ~*value + 1 : *value;
      for (std::uint32_t i = 0; i < element; ++i) initial.push_back(static_cast<std::uint8_t>(bits >> 8 * i));
      negative = false;
    }
    if (plain) variable->initial = std::move(initial);
    return true;
  }

  // Returns the bits of a number. 0f and 0d stand in front of those of a float, in hexadecimal.
  static std::optional<std::uint64_t> Value(std::string_view word) {
    if (word.size() > 2 && word[0] == '0' &&
        (word[1] == 'f' || word[1] == 'd' || word[1] == 'F' || word[1] == 'D')) {
      return Number("0x" + std::string(word.substr(2)));
    }
    return Number(word);
  }

  PtxWords words_;
  Image image_;
  bool external_ = false;  // true in a declaration of what another image defines
};

}  // namespace

bool IsPtx(std::string_view text) { return PtxWords(text).Next() == ".version"; }

int ArchitectureOfPtx(std::string_view text) {
  PtxWords words(text);
  for (int left = 8; left > 0; --left) {  // .version 9.0 .target sm_90
    if (words.Next() == ".target") return ArchitectureOfTarget(words.Next());
  }
  return 0;
}

std::optional<Image> ParsePtx(std::string_view text, std::string* error) { return Reader(text).Read(error); }

}  // namespace simgpu::image
