// What a stream lost to the lateness of the thread that stands for it, and how the kernels behind make up for
// it.
//
// A memory operation that finds what it waits for costs a GPU next to nothing, but it stops the thread until
// it is woken. The SMs that no other kernel used meanwhile are owed to the kernels behind: each is given to
// the GPU shortened by what it would have done by then, at most by half. What other kernels used is not owed,
// so that no GPU ever does more than it could.
//
// Pure. Times are ns; `sms` are those that a kernel asks for.
#pragma once

#include "simgpu/model/fluid.h"

namespace simgpu {

class Payback {
 public:
  // Nothing is owed: the GPU would have had to wait as well.
  void Clear() { *this = Payback(); }

  // Since the last kernel has ended the thread was `late`, and `spare` SMs times ns were left over. What an
  // earlier call said of the same time is replaced.
  void Owe(Nanos late, double spare);

  // By how many ns a kernel of `ns` is shortened.
  double TakeOff(double ns, double sms);

  // How far the stream's time lies behind on a GPU of so many SMs.
  Nanos Behind(double gpu_sms) const;

 private:
  double late_ = 0;  // ns that are still owed
  double spare_ = 0;
  double kept_late_ = 0;  // of this, what kernels before the last one did not make up for
  double kept_spare_ = 0;
};

}  // namespace simgpu
