#include "simgpu/cuda/payback.h"

#include <algorithm>

#include "simgpu/model/constants.h"

namespace simgpu {

void Payback::Owe(Nanos late, double spare) {
  // If the thread is later than this, its run is void anyway.
  const Nanos counted = std::clamp<Nanos>(late, 0, constants::kMostOwed);
  const double part = late > counted ? static_cast<double>(counted) / static_cast<double>(late) : 1;
  late_ = std::min(kept_late_ + static_cast<double>(counted), static_cast<double>(constants::kMostOwed));
  spare_ = kept_spare_ + spare * part;
}

double Payback::TakeOff(double ns, double sms) {
  const double taken = std::min({late_, spare_ / sms, ns / 2});
  late_ = kept_late_ = late_ - taken;
  spare_ = kept_spare_ = spare_ - taken * sms;
  if (late_ <= 0 || spare_ <= 0) Clear();
  return taken;
}

Nanos Payback::Behind(double gpu_sms) const { return static_cast<Nanos>(std::min(late_, spare_ / gpu_sms)); }

}  // namespace simgpu
