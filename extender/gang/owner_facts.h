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

// OwnerFacts are what such an object says.
struct OwnerFacts {
  std::map<std::string, int> parts;  // number of pods that ask for GPUs, by part of the job; "": no parts
  bool ordered = false;              // a part's pods are made once those of the part before it are ready
  std::string uid;                   // of the object

  // Returns the number of pods of all parts.
  int total() const;
  friend bool operator==(const OwnerFacts&, const OwnerFacts&) = default;
};

// Reads an object. Only its UID is set where its kind is not in the table (owner_kinds.h).
OwnerFacts ReadOwner(const nlohmann::json& object);

}  // namespace crossover::extender
