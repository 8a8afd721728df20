#include "benchmarks/hook_ns/steps.h"

#include <signal.h>
#include <ucontext.h>

namespace crossover::bench {

#if defined(__x86_64__)
namespace {

Steps steps;  // of the thread that counts

constexpr unsigned char kLockPrefix = 0xf0;
constexpr unsigned char kSystemCall[] = {0x0f, 0x05};

// Counts the instruction that the thread is about to execute.
void OnStep(int, siginfo_t*, void* context) {
  const auto* at = reinterpret_cast<const unsigned char*>(
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  ++steps.instructions;
  if (at[0] == kLockPrefix) ++steps.atomics;
  if (at[0] == kSystemCall[0] && at[1] == kSystemCall[1]) ++steps.system_calls;
}

}  // namespace

std::optional<Steps> CountSteps(void (*call)(void*), void* argument) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = &OnStep;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  steps = Steps();
  constexpr std::uint64_t kRedZone = 128, kTrap = 0x100;
  asm volatile(
      "sub %[zone], %%rsp\n\t"
      "pushfq\n\t"
      "orq %[trap], (%%rsp)\n\t"
      "popfq\n\t"
      "add %[zone], %%rsp" ::[zone] "i"(kRedZone),
      [trap] "i"(kTrap)
      : "memory", "cc");
  call(argument);
  asm volatile(
      "sub %[zone], %%rsp\n\t"
      "pushfq\n\t"
      "andq %[trap], (%%rsp)\n\t"
      "popfq\n\t"
      "add %[zone], %%rsp" ::[zone] "i"(kRedZone),
      [trap] "i"(~static_cast<std::int64_t>(kTrap))
      : "memory", "cc");
  sigaction(SIGTRAP, &before, nullptr);
  return steps;
}
#else
std::optional<Steps> CountSteps(void (*)(void*), void*) { return std::nullopt; }
#endif

}  // namespace crossover::bench
