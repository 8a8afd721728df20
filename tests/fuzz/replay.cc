// Provides the main program of a fuzzer if there is no libFuzzer. It tries every seed in the directory that
// is named: whole, cut off after each of its bytes, and with each of its bytes inverted. A fuzzer without
// seeds gets the empty input.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::size_t inputs = 0;

// Gives the fuzzer the bytes in memory of their own size. A sanitizer then sees a read past the end.
void Try(std::vector<std::uint8_t> bytes) {
  bytes.shrink_to_fit();
  ++inputs;
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

void TryAround(const std::vector<std::uint8_t>& seed) {
  Try(seed);
  for (std::size_t at = 0; at < seed.size(); ++at) {
    Try({seed.begin(), seed.begin() + static_cast<std::ptrdiff_t>(at)});
    std::vector<std::uint8_t> other = seed;
    other[at] = static_cast<std::uint8_t>(~other[at]);
    Try(std::move(other));
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", arguments[0]);
    return 2;
  }
  Try({});
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1], none)) {
    std::ifstream file(entry.path(), std::ios::binary);
    TryAround({std::istreambuf_iterator<char>(file), {}});
  }
  std::printf("%zu inputs\n", inputs);
  return 0;
}
