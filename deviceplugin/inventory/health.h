// Decides which GPUs are healthy enough to be given out, from what the driver reports. An error that a
// program causes says nothing about the GPU. After any other error the GPU is withheld until it has been
// quiet for a while and the driver does not ask for a reset.
//
// Pure: the caller passes the time, in ns of any clock. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/withheld.h"

namespace crossover::deviceplugin {

// Returns whether an Xid indicates a fault of the GPU. It does not if it indicates a fault of the program
// that ran (NVIDIA's "XID Errors": 13, 31, 43, 45, 68, 109), or if it only announces what the driver also
// reports in another way (154).
bool BlamesTheGpu(unsigned xid);

class Health {
 public:
  using Time = std::int64_t;

  // Holds what a GPU answered at one look.
  struct Answer {
    std::string uuid;
    std::optional<bool> wants_reset;  // nullopt: the driver does not say
  };

  // `quiet` is how long, in ns, a GPU must be without errors before it is given out again.
  explicit Health(Time quiet) : quiet_(quiet) {}
  void set_quiet(Time quiet) { quiet_ = quiet; }

  // Notes an error of a GPU at time `now`.
  void OnXid(const std::string& uuid, unsigned xid, Time now);
  // Notes the result of one look at all GPUs. A GPU that is not in `answers` counts as not answering.
  void OnLook(const std::vector<Answer>& answers, Time now);

  // Returns why the GPU is withheld, or nullopt if it is not, or if the GPU was never seen.
  std::optional<base::WithheldReason> Fault(const std::string& uuid) const;
  // Counts errors by GPU and Xid.
  using Xids = std::map<std::pair<std::string, unsigned>, std::uint64_t>;
  const Xids& xids() const { return xids_; }

 private:
  struct Gpu {
    bool answers = true;
    std::optional<bool> wants_reset;
    unsigned xid = 0;          // the last Xid that blames the GPU; 0: none, or it was long ago
    Time erred = 0;            // time of that Xid
    bool needs_reset = false;  // an Xid that needs a reset came
  };

  Time quiet_;
  std::map<std::string, Gpu> gpus_;
  Xids xids_;
};

}  // namespace crossover::deviceplugin
