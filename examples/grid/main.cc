// grid_product: one rank of a matrix product on a grid. README.md has the commands.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "examples/grid/product.h"
#include "examples/trainer/failure.h"

namespace crossover::grid {
namespace {

using trainer::Rank;

std::uint64_t JobNumber(const Options& options) {
  const std::uint32_t words[] = {options.grid.q,        options.grid.d,
                                 options.sizes.rows,    options.sizes.inner,
                                 options.sizes.columns, static_cast<std::uint32_t>(options.numbering)};
  std::uint64_t number = 0;
  for (const std::uint32_t word : words) number = number * 4099 + word;
  return number;
}

void Write(const Options& options, const Rank& rank, const Wrong& wrong) {
  const Place place = PlaceOf(options.grid, options.numbering, rank.rank);
  std::FILE* file = options.log.empty() ? stdout : std::fopen(options.log.c_str(), "we");
  if (file == nullptr)
    throw trainer::Failure("--log: expected a file that can be written, got " + options.log, 2);
  std::fprintf(file,
               "{\"rank\": %u, \"row\": %u, \"column\": %u, \"layer\": %u, \"iterations\": %" PRIu64
               ", \"wrong\": {\"y\": %" PRIu64 ", \"gradient_of_x\": %" PRIu64 ", \"gradient_of_a\": %" PRIu64
               "}, \"bytes_received\": %" PRIu64 ", \"bytes_from_layers\": %" PRIu64 "}\n",
               rank.rank, place.row, place.column, place.layer, options.iterations, wrong.y,
               wrong.gradient_of_x, wrong.gradient_of_a,
               BytesReceived(options.grid, options.sizes) * options.iterations,
               BytesFromLayers(options.grid, options.sizes) * options.iterations);
  if (file != stdout) std::fclose(file);
}

int RunRank(const Options& options, const Rank& rank) {
  Multiplier gpu(rank.local_rank);
  trainer::Communicator communicator(rank, JobNumber(options), trainer::NcclUse::kPlain);
  Product product(options, rank.rank, gpu, communicator);
  for (std::uint64_t i = 0; i < options.iterations; ++i) product.Run();
  const Wrong wrong = product.Compare();
  Write(options, rank, wrong);
  return wrong.y + wrong.gradient_of_x + wrong.gradient_of_a == 0 ? 0 : 1;
}

int Complain(const std::string& text, int code) {
  std::fprintf(stderr, "grid_product: %s\n", text.c_str());
  return code;
}

int Main(int argc, char** argv) {
  const auto rank = trainer::ReadRank([](const char* name) -> const char* { return std::getenv(name); });
  if (argc == 2 && std::string(argv[1]) == "--help") {
    std::fputs(HelpText().c_str(), stdout);
    return 0;
  }
  if (const auto* error = std::get_if<trainer::UsageError>(&rank)) return Complain(error->text, 2);
  const auto options = ParseOptions({argv + 1, argv + argc}, std::get<Rank>(rank).world);
  if (const auto* error = std::get_if<UsageError>(&options)) return Complain(error->text, 2);
  try {
    return RunRank(std::get<Options>(options), std::get<Rank>(rank));
  } catch (const trainer::Failure& failure) {
    return Complain(failure.what(), failure.code());
  }
}

}  // namespace
}  // namespace crossover::grid

int main(int argc, char** argv) { return crossover::grid::Main(argc, argv); }
