// Which GPUs can be given out, by what the driver says of them. An error that a program makes by itself says
// nothing of the GPU; after another one it is withheld until it has been quiet for a while and the driver
// does not want it reset.
//
// Pure: time comes in, in ns of any clock. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace crossover::deviceplugin {

// Whether an Xid tells of a fault in the program that ran (NVIDIA's "XID Errors": 13, 31, 43, 45, 68, 109) or
// only announces what is told otherwise (154).
bool BlamesTheGpu(unsigned xid);

class Health {
 public:
  using Time = std::int64_t;

  // A GPU as it answered.
  struct Answer {
    std::string uuid;
    std::optional<bool> wants_reset;  // nothing: a driver that does not say
  };

  explicit Health(Time quiet) : quiet_(quiet) {}
  void set_quiet(Time quiet) { quiet_ = quiet; }

  void OnXid(const std::string& uuid, unsigned xid, Time now);
  // Once for each look at all GPUs: whoever is not among them does not answer.
  void OnLook(const std::vector<Answer>& answers, Time now);

  // Why the GPU is withheld; empty: it is not. Of GPUs that were never seen, nothing is known against them.
  std::string Fault(const std::string& uuid) const;
  // How often each Xid came, by GPU and Xid.
  using Xids = std::map<std::pair<std::string, unsigned>, std::uint64_t>;
  const Xids& xids() const { return xids_; }

 private:
  struct Gpu {
    bool answers = true;
    std::optional<bool> wants_reset;
    unsigned xid = 0;          // the last that blames the GPU; 0: none, or long ago
    Time erred = 0;            // when that came
    bool needs_reset = false;  // by that Xid
  };

  Time quiet_;
  std::map<std::string, Gpu> gpus_;
  Xids xids_;
};

}  // namespace crossover::deviceplugin
