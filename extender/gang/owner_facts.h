// Reads the size of a job from the object that made its pods. Pure.
#pragma once

#include <compare>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "extender/cluster/model.h"

namespace crossover::extender {

// An OwnerRef names an object of the API server. `incarnation` is that of the job, as its pods say it. An
// object that was deleted and made again with the same name is another one, and may have another size.
struct OwnerRef {
  std::string api_version, kind, name_space, name, incarnation{};
  friend auto operator<=>(const OwnerRef&, const OwnerRef&) = default;
};

// A Part says how many pods with GPUs one part of a job has. They come in groups of the same size. Only the
// parts of a JobSet have several groups: each is a Job.
struct Part {
  // The value of `most` for a work queue (a Job without completions): no pod is made again once one has
  // succeeded.
  static constexpr int kUntilOneEnds = -1;

  int groups = 1;
  int pods = 0;         // of each group at a time
  int most = 0;         // of each group, from its first pod to its last, or kUntilOneEnds
  int done = 0;         // pods of a single group that have done their work, or have failed for good
  int done_groups = 0;  // of several groups: those that have done their work

  // Returns the number of pods at a time, while none has done its work.
  int all() const;
  friend bool operator==(const Part&, const Part&) = default;
};

// OwnerFacts are what the object that made the pods of a job says.
struct OwnerFacts {
  std::map<std::string, Part> parts;  // by name; "": the job has no parts
  bool ordered = false;               // a part's pods are made once those of the part before it are ready
  bool ended = false;  // the job has succeeded or failed: its owner ends the pods that are left
  std::string uid;     // of the object
  // The least number of pods that the job starts with, at most total(). 0: it needs all of them.
  int least = 0;

  // Returns the number of pods of all parts at a time, while none has done its work.
  int total() const;
  // Returns whether the object says that some pods have done their work.
  bool has_done() const;
  friend bool operator==(const OwnerFacts&, const OwnerFacts&) = default;
};

// Returns what an object says. Only `uid` is set if the object's kind is not in the table (owner_kinds.h).
OwnerFacts ReadOwner(const nlohmann::json& object);

}  // namespace crossover::extender
