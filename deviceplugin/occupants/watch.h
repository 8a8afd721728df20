// Looks every two seconds at who is on the GPUs, first as soon as that can be judged, on a thread of its own.
// Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/threads/rounds.h"
#include "deviceplugin/nvml/library.h"
#include "deviceplugin/occupants/judge.h"

namespace crossover::deviceplugin {

class OccupantWatch {
 public:
  struct Sources {
    std::function<std::vector<std::string>()> gpu_uuids;
    // Nothing while it is not known: nobody is judged then.
    std::function<std::optional<OccupantJudge::Known>()> known;
    std::function<void(const OccupantJudge::Verdicts&)> on_judged;  // each time
    std::string library;                                            // the name of our file
    std::string cgroup_root;                                        // the kubelet's
    std::string driver = NvmlLibrary::kName;
  };

  // The sources are asked on the watch's thread.
  explicit OccupantWatch(Sources sources);

  OccupantJudge::Verdicts verdicts() const;

 private:
  void Round();

  const Sources sources_;
  int since_look_ = 0;                 // rounds
  std::unique_ptr<NvmlLibrary> nvml_;  // null: no driver yet
  std::vector<Occupant> found_;        // at the last look
  OccupantJudge judge_;
  mutable std::mutex mutex_;
  OccupantJudge::Verdicts verdicts_;
  threads::Rounds rounds_;  // last: it uses the others
};

}  // namespace crossover::deviceplugin
