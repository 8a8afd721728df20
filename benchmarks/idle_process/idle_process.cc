// Measures what a preloaded library costs a process that does not use it: `idle_process COUNT LIBRARY
// [PROGRAM]`.
//
// Runs PROGRAM (/bin/true) COUNT times with the library and as often without it. The runs are in
// alternating blocks, one process after the other. Prints as JSON what a process takes, in milliseconds:
// the means over all runs, and the median over pairs of blocks of what the library adds.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/driver/numbers.h"
#include "common/base/clock.h"

namespace crossover::bench {
namespace {

constexpr int kBlock = 25;

[[noreturn]] void Fail(const std::string& text) {
  std::fprintf(stderr, "idle_process: %s\n", text.c_str());
  std::exit(1);
}

// Returns the environment of this process, with `library` preloaded, or with nothing preloaded if it is
// empty.
std::vector<std::string> Environment(const std::string& library) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::string_view(*variable).rfind("LD_PRELOAD=", 0) != 0) variables.emplace_back(*variable);
  }
  if (!library.empty()) variables.push_back("LD_PRELOAD=" + library);
  return variables;
}

class Program {
 public:
  Program(std::string path, std::vector<std::string> environment)
      : path_(std::move(path)), environment_(std::move(environment)) {
    for (std::string& variable : environment_) variables_.push_back(variable.data());
    variables_.push_back(nullptr);
  }

  // Runs a block of processes. Returns the time in ns from before the first start until after the last end.
  std::int64_t TimeBlock() {
    const std::int64_t began = base::MonotonicNs();
    for (int i = 0; i < kBlock; ++i) RunOnce();
    return base::MonotonicNs() - began;
  }

 private:
  void RunOnce() {
    char* arguments[] = {path_.data(), nullptr};
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, path_.c_str(), nullptr, nullptr, arguments, variables_.data()) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
      Fail(path_ + " does not run");
    }
  }

  std::string path_;
  std::vector<std::string> environment_;
  std::vector<char*> variables_;
};

int Main(int argc, char** argv) {
  if (argc < 3) Fail("want COUNT LIBRARY [PROGRAM]");
  const std::int64_t count = Argument("COUNT", argv[1], 2 * kBlock, 10'000'000);
  const std::string path = argc > 3 ? argv[3] : "/bin/true";
  Program with(path, Environment(argv[2]));
  Program without(path, Environment(""));
  std::vector<std::int64_t> added;
  std::int64_t total_with = 0;
  std::int64_t total_without = 0;
  const std::int64_t blocks = count / kBlock;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const bool with_first = i % 2 == 0;
    const std::int64_t first = with_first ? with.TimeBlock() : without.TimeBlock();
    const std::int64_t second = with_first ? without.TimeBlock() : with.TimeBlock();
    const std::int64_t with_ns = with_first ? first : second;
    const std::int64_t without_ns = with_first ? second : first;
    added.push_back(with_ns - without_ns);
    total_with += with_ns;
    total_without += without_ns;
  }
  const auto ms = [](std::int64_t ns, std::int64_t processes) {
    return static_cast<double>(ns) / 1e6 / static_cast<double>(processes);
  };
  const std::int64_t processes = blocks * kBlock;
  std::printf("{\"processes\": %lld, \"added_ms\": %.4f, \"with_ms\": %.4f, \"without_ms\": %.4f}\n",
              static_cast<long long>(processes), ms(Quantile(added, 0.5), kBlock), ms(total_with, processes),
              ms(total_without, processes));
  return 0;
}

}  // namespace
}  // namespace crossover::bench

int main(int argc, char** argv) { return crossover::bench::Main(argc, argv); }
