// Counts what a stream lost because its thread was late, and how much the next kernels make up for it.
//
// A memory operation whose condition already holds costs a GPU next to nothing, but the thread stops for it
// until it is woken. The SMs that no other kernel used meanwhile are owed to the kernels behind. Each of
// them is shortened by what it would have done by then, at most by half. What other kernels used is not
// owed, so no GPU ever does more than it could.
//
// Pure. Times are in ns; `sms` is the number of SMs that a kernel asks for.
#pragma once

#include "simgpu/model/fluid.h"

namespace simgpu {

// A Payback keeps what is owed to the kernels of one stream.
class Payback {
 public:
  // Cancels what is owed, because the GPU would have had to wait as well.
  void Clear() { *this = Payback(); }

  // Says that since the last kernel ended the thread was `late` ns, and that `spare` SMs times ns were left
  // over. Replaces what an earlier call said about the same time.
  void Owe(Nanos late, double spare);

  // Returns by how many ns a kernel of `ns` is shortened, and counts them as paid.
  double TakeOff(double ns, double sms);

  // Returns how many ns the stream's time lies behind on a GPU of `gpu_sms` SMs.
  Nanos Behind(double gpu_sms) const;

 private:
  double late_ = 0;        // ns that are still owed
  double spare_ = 0;       // SMs times ns that are still owed
  double kept_late_ = 0;   // the part of late_ that earlier kernels left over
  double kept_spare_ = 0;  // the same for spare_
};

}  // namespace simgpu
