#include "simgpu/machine/os.h"

#include <sys/prctl.h>

namespace simgpu {

void SharpenTimers() {
  thread_local const int once = prctl(PR_SET_TIMERSLACK, 1UL);
  static_cast<void>(once);
}

}  // namespace simgpu
