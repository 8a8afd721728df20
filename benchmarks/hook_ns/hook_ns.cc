// Measures what the hook in front of a launch costs, in one of the states of states.h. The cost is the
// difference between a launch through the preloaded library and one past it, on a driver whose launches do
// nothing. It is given in time and in instructions. The program also counts what must not occur: locks,
// allocations and system calls.
//
//   hook_ns STATE [count]    count: only instructions, without measuring time
#include <cuda.h>
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/hook_ns/counted.h"
#include "benchmarks/hook_ns/empty_cuda.h"
#include "benchmarks/hook_ns/states.h"
#include "benchmarks/hook_ns/steps.h"
#include "common/base/clock.h"

namespace crossover::bench {
namespace {

constexpr int kBlocks = 201;
constexpr int kCalls = 20'000;
constexpr int kFewCalls = 500;              // used if no time is measured
constexpr std::size_t kCountedKernels = 9;  // few, because each instruction causes a trap

// Describes one of the driver's launch functions, as the program sees it and without any hook, and how to
// call it.
struct Entry {
  const char* name;
  void* hooked;
  void* direct;
  void (*call)(void* function, const Program& program, std::size_t number);
  // Returns the time of one call, in picoseconds. It is null if the entry is not timed.
  std::int64_t (*time)(void* function, const Program& program);
};

CUfunction KernelOf(const Program& program, std::size_t number) {
  return program.kernels()[number % Program::kKernels];
}
void CallWithArguments(void* function, const Program& program, std::size_t number) {
  reinterpret_cast<decltype(&cuLaunchKernel)>(function)(KernelOf(program, number), 1, 1, 1, 1, 1, 1, 0,
                                                        program.stream(), nullptr, nullptr);
}
void CallCooperative(void* function, const Program& program, std::size_t number) {
  reinterpret_cast<decltype(&cuLaunchCooperativeKernel)>(function)(KernelOf(program, number), 1, 1, 1, 1, 1,
                                                                   1, 0, program.stream(), nullptr);
}
void CallWithConfiguration(void* function, const Program& program, std::size_t number) {
  CUlaunchConfig config{};
  config.hStream = program.stream();
  reinterpret_cast<decltype(&cuLaunchKernelEx)>(function)(&config, KernelOf(program, number), nullptr,
                                                          nullptr);
}
void CallGraph(void* function, const Program& program, std::size_t) {
  reinterpret_cast<decltype(&cuGraphLaunch)>(function)(nullptr, program.stream());
}

// Calls each kernel in turn. Returns the mean time of a call, in picoseconds.
template <void (*kCall)(void*, const Program&, std::size_t)>
[[gnu::noinline]] std::int64_t TimePs(void* function, const Program& program) {
  // The volatile pointer forces an indirect call each time, as through any pointer to the driver.
  void* volatile launch = function;
  const std::int64_t began = base::MonotonicNs();
  for (std::size_t i = 0; i < kCalls; ++i) kCall(launch, program, i);
  return (base::MonotonicNs() - began) * 1000 / kCalls;
}

// Returns all launch functions that have hooks. One of each kind is timed.
std::vector<Entry> Entries() {
  const auto hooked = [](const char* name) { return ::dlsym(RTLD_DEFAULT, name); };
  void* arguments = reinterpret_cast<void*>(EmptyDirectLaunch());
  void* configuration = reinterpret_cast<void*>(EmptyDirectLaunchEx());
  void* graph = reinterpret_cast<void*>(EmptyDirectGraphLaunch());
  std::vector<Entry> entries = {
      {"cuLaunchKernel", nullptr, arguments, &CallWithArguments, &TimePs<&CallWithArguments>},
      {"cuLaunchKernel_ptsz", nullptr, arguments, &CallWithArguments, nullptr},
      {"cuLaunchCooperativeKernel", nullptr, arguments, &CallCooperative, nullptr},
      {"cuLaunchCooperativeKernel_ptsz", nullptr, arguments, &CallCooperative, nullptr},
      {"cuLaunchKernelEx", nullptr, configuration, &CallWithConfiguration, &TimePs<&CallWithConfiguration>},
      {"cuLaunchKernelEx_ptsz", nullptr, configuration, &CallWithConfiguration, nullptr},
      {"cuGraphLaunch", nullptr, graph, &CallGraph, &TimePs<&CallGraph>},
      {"cuGraphLaunch_ptsz", nullptr, graph, &CallGraph, nullptr},
  };
  for (Entry& entry : entries) entry.hooked = hooked(entry.name);
  return entries;
}

struct Times {
  double hook_ns = 0, through_ns = 0, past_ns = 0;
};

// Measures alternating blocks of calls. Other work on the machine makes some blocks longer and none
// shorter. One of the shortest blocks therefore counts: the one at the first decile.
Times TimeOf(const Entry& entry, const Program& program) {
  std::vector<std::int64_t> through, past;
  for (int block = 0; block < kBlocks; ++block) {
    through.push_back(entry.time(entry.hooked, program));
    past.push_back(entry.time(entry.direct, program));
  }
  const auto ns = [](const std::vector<std::int64_t>& ps) {
    return static_cast<double>(Quantile(ps, 0.1)) / 1e3;
  };
  return {ns(through) - ns(past), ns(through), ns(past)};
}

struct Counts {
  std::int64_t median = 0, most = 0;           // instructions of the hook per kernel
  std::int64_t atomics = 0, system_calls = 0;  // of all kernels together
};

std::optional<Counts> CountsOf(const Entry& entry, const Program& program) {
  struct Call {
    const Entry& entry;
    const Program& program;
    void* function;
    std::size_t number;
  };
  const auto steps_of = [&](void* function, std::size_t number) {
    Call call{entry, program, function, number};
    return CountSteps(
        [](void* argument) {
          const Call& one = *static_cast<Call*>(argument);
          one.entry.call(one.function, one.program, one.number);
        },
        &call);
  };
  Counts counts;
  std::vector<std::int64_t> instructions;
  for (std::size_t number = 0; number < kCountedKernels; ++number) {
    const std::optional<Steps> through = steps_of(entry.hooked, number),
                               past = steps_of(entry.direct, number);
    if (!through || !past) return std::nullopt;
    instructions.push_back(through->instructions - past->instructions);
    counts.atomics += through->atomics - past->atomics;
    counts.system_calls += through->system_calls - past->system_calls;
  }
  counts.median = Quantile(instructions, 0.5);
  counts.most = *std::max_element(instructions.begin(), instructions.end());
  return counts;
}

void CallAll(const std::vector<Entry>& entries, const Program& program, std::size_t calls) {
  for (const Entry& entry : entries) {
    for (std::size_t i = 0; i < calls; ++i) entry.call(entry.hooked, program, i);
  }
}

constinit volatile sig_atomic_t refused_calls = 0;

void OnRefused(int, siginfo_t*, void*) { refused_calls = refused_calls + 1; }

// Returns how many system calls of this thread a seccomp filter refused while it launched. From here on the
// filter allows only writes to standard output, signal returns and the exit. Returns -1 if the filter cannot
// be installed.
int RefusedSystemCalls(const std::vector<Entry>& entries, const Program& program, std::size_t calls) {
  struct sigaction action {};
  action.sa_sigaction = &OnRefused;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, nullptr);
  constexpr auto kNumber = offsetof(seccomp_data, nr), kFirst = offsetof(seccomp_data, args);
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFirst),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, STDOUT_FILENO, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
  };
  const sock_fprog program_of_rules{static_cast<unsigned short>(sizeof rules / sizeof *rules), rules};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program_of_rules) != 0) {
    return -1;
  }
  CallAll(entries, program, calls);
  return refused_calls;
}

std::string InWords(const Entry& entry, const Program& program, bool count_only) {
  char text[512];
  std::string words;
  if (!count_only && entry.time != nullptr) {
    const Times times = TimeOf(entry, program);
    std::snprintf(text, sizeof text, R"("hook_ns": %.3f, "through_ns": %.3f, "past_ns": %.3f, )",
                  times.hook_ns, times.through_ns, times.past_ns);
    words += text;
  }
  if (const std::optional<Counts> counts = CountsOf(entry, program)) {
    std::snprintf(text, sizeof text,
                  R"("instructions": %lld, "most_instructions": %lld, "atomics": %lld, "system_calls": %lld)",
                  static_cast<long long>(counts->median), static_cast<long long>(counts->most),
                  static_cast<long long>(counts->atomics), static_cast<long long>(counts->system_calls));
  } else {
    std::snprintf(text, sizeof text, R"("instructions": null)");
  }
  return std::string("\"") + entry.name + "\": {" + words + text + "}";
}

int Measure(const State& state, bool count_only) {
  Program program(state);
  const std::vector<Entry> entries = Entries();
  const std::size_t calls = count_only ? kFewCalls : kCalls;
  CallAll(entries, program, Program::kKernels);  // the library finds the real functions
  std::string kinds;
  for (const Entry& entry : entries) {
    kinds += (kinds.empty() ? "" : ", ") + InWords(entry, program, count_only);
  }
  const std::uint64_t allocated = Allocations(), locked = Locks();
  CallAll(entries, program, calls);
  const std::uint64_t allocations = Allocations() - allocated, locks = Locks() - locked;
  program.Check();
  const int refused = RefusedSystemCalls(entries, program, calls);
  char text[4096];
  const int length = std::snprintf(
      text, sizeof text,
      R"({"state": "%s", "entries": {%s}, "launches": %zu, "allocations": %llu, "locks": %llu, "system_calls": %d})"
      "\n",
      state.name.data(), kinds.c_str(), entries.size() * calls, static_cast<unsigned long long>(allocations),
      static_cast<unsigned long long>(locks), refused);
  const bool written = ::write(STDOUT_FILENO, text, static_cast<std::size_t>(length)) == length;
  ::syscall(SYS_exit_group, written ? 0 : 1);
  return 1;
}

int Main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  const auto state =
      std::find_if(kStates.begin(), kStates.end(), [&](const State& s) { return s.name == wanted; });
  if (state == kStates.end() || argc > 3 || (argc == 3 && std::strcmp(argv[2], "count") != 0)) {
    std::string names;
    for (const State& known : kStates) names += (names.empty() ? "" : ", ") + std::string(known.name);
    std::fprintf(stderr, "hook_ns STATE [count]: expected one of %s, got %s\n", names.c_str(),
                 argc > 1 ? argv[1] : "none");
    return 2;
  }
  try {
    return Measure(*state, argc == 3);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "hook_ns: %s\n", failure.what());
    return 1;
  }
}

}  // namespace
}  // namespace crossover::bench

int main(int argc, char** argv) { return crossover::bench::Main(argc, argv); }
