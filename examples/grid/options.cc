#include "examples/grid/options.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <string_view>

#include "common/base/refusal.h"

namespace crossover::grid {
namespace {

using base::Refusal;
using base::Shown;

// A Setter sets one option from its text. It returns what is expected if it refuses the text, and no value
// otherwise.
using Setter = std::function<std::optional<std::string>(Options&, std::string_view)>;

struct Flag {
  std::string_view name, value, help;
  Setter set;
};

template <typename T>
std::optional<T> Parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Returns a setter for a whole number from 1 to `most`.
template <typename T, typename Member>
Setter Whole(Member member, T most) {
  return [=](Options& options, std::string_view text) -> std::optional<std::string> {
    const auto value = Parsed<T>(text);
    if (!value || *value < 1 || *value > most) return "a whole number from 1 to " + std::to_string(most);
    member(options) = *value;
    return std::nullopt;
  };
}

std::optional<std::string> SetProductMs(Options& options, std::string_view text) {
  const auto value = Parsed<double>(text);
  if (!value || !(*value >= 0 && *value <= 1000)) return "a number from 0 to 1000";
  options.product_ms = *value;
  return std::nullopt;
}

std::optional<std::string> SetNumbering(Options& options, std::string_view text) {
  if (text != "rows" && text != "layers") return "rows or layers";
  options.numbering = text == "rows" ? Numbering::kRows : Numbering::kLayers;
  return std::nullopt;
}

std::optional<std::string> SetFault(Options& options, std::string_view text) {
  if (text != "none" && text != "no_layer_sum") return "none or no_layer_sum";
  options.fault = text == "none" ? Fault::kNone : Fault::kNoLayerSum;
  return std::nullopt;
}

std::optional<std::string> SetLog(Options& options, std::string_view text) {
  if (text.empty()) return "a path";
  options.log = text;
  return std::nullopt;
}

const std::vector<Flag>& Flags() {
  constexpr std::uint32_t kMostSide = 64, kMostSize = 4096;
  constexpr std::uint64_t kMostIterations = 1'000'000;
  static const std::vector<Flag> flags = {
      {"q", "N", "rows and columns of the grid",
       Whole(
           [](Options & o) -> auto& { return o.grid.q; }, kMostSide)},
      {"d", "N", "layers of the grid",
       Whole(
           [](Options & o) -> auto& { return o.grid.d; }, kMostSize)},
      {"rows", "N", "rows of X and Y",
       Whole(
           [](Options & o) -> auto& { return o.sizes.rows; }, kMostSize)},
      {"inner", "N", "columns of X, rows of A",
       Whole(
           [](Options & o) -> auto& { return o.sizes.inner; }, kMostSize)},
      {"columns", "N", "columns of A and Y",
       Whole(
           [](Options & o) -> auto& { return o.sizes.columns; }, kMostSize)},
      {"iterations", "N", "products, each with its two gradients",
       Whole(
           [](Options & o) -> auto& { return o.iterations; }, kMostIterations)},
      {"numbering", "rows|layers", "in which order the ranks fill the grid", SetNumbering},
      {"product-ms", "X", "how long a product of two blocks lasts", SetProductMs},
      {"log", "FILE", "where the results go, as one line of JSON", SetLog},
      {"fault", "none|no_layer_sum", "what is wrong, for tests", SetFault}};
  return flags;
}

// Sets the option of one argument. Returns what is wrong with it.
std::optional<std::string> Set(Options* options, std::string_view argument) {
  const std::size_t equals = argument.find('=');
  for (const Flag& flag : Flags()) {
    if (!argument.starts_with("--") || argument.substr(2, equals - 2) != flag.name) continue;
    const std::string name = "--" + std::string(flag.name);
    if (equals == std::string_view::npos) return Refusal(name, name + "=" + std::string(flag.value), name);
    const std::string_view value = argument.substr(equals + 1);
    const auto expected = flag.set(*options, value);
    if (!expected) return std::nullopt;
    return Refusal(name, *expected, Shown(value));
  }
  return Refusal("argument", "a flag that --help lists", Shown(argument));
}

}  // namespace

std::variant<Options, HelpWanted, UsageError> ParseOptions(const std::vector<std::string>& arguments,
                                                           std::uint32_t ranks) {
  Options options;
  for (const std::string& argument : arguments) {
    if (argument == "--help") return HelpWanted{};
    if (const auto wrong = Set(&options, argument)) return UsageError{*wrong};
  }
  if (options.grid.ranks() != ranks) {
    return UsageError{Refusal("--q and --d",
                              "q x q x d = " + std::to_string(ranks) + " ranks, as WORLD_SIZE says",
                              std::to_string(options.grid.ranks()))};
  }
  if (const auto wrong = Misfit(options.grid, options.sizes)) return UsageError{*wrong};
  return options;
}

std::string HelpText() {
  std::string text = "grid_product: Y = X A and its gradients on a grid of q x q x d ranks\n\n";
  for (const Flag& flag : Flags()) {
    std::string line = "  --" + std::string(flag.name) + "=" + std::string(flag.value);
    line.resize(std::max<std::size_t>(line.size() + 2, 32), ' ');
    text += line + std::string(flag.help) + "\n";
  }
  return text;
}

}  // namespace crossover::grid
