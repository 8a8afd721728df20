#include "simgpu/machine/os.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>

namespace simgpu {
namespace {

bool WantsPriority() {
  const char* wanted = std::getenv("SIMGPU_REALTIME");
  return wanted == nullptr || std::strcmp(wanted, "0") != 0;
}

// Is read when the library is loaded. A thread of ours that read the environment later could do so while the
// program changes it, which moves it in memory.
const bool kWantsPriority = WantsPriority();

}  // namespace

void SleepUntil(Nanos time) {
  const std::uint32_t never = 0;
  while (MonotonicNow() < time) FutexWait(&never, 0, time);
}

void SharpenTimers() {
  thread_local const int once = prctl(PR_SET_TIMERSLACK, 1UL);
  static_cast<void>(once);
}

void ActAsHardware() {
  SharpenTimers();
  if (!kWantsPriority) return;
  // The scheduler lets an ordinary thread that wakes wait for up to 3 ms while another ordinary thread
  // runs, whatever their nice values.
  const sched_param lowest{1};
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) == 0) return;
  static_cast<void>(setpriority(PRIO_PROCESS, 0, -10));
}

}  // namespace simgpu
