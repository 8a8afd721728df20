// What the object that made a job's pods says about its size. Pure.
#pragma once

#include <compare>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "extender/cluster/model.h"

namespace crossover::extender {

// An object of the API server. `incarnation`: of the job, by its pods: one that was deleted and made anew by
// the same name is another, which may have another size.
struct OwnerRef {
  std::string api_version, kind, name_space, name, incarnation{};
  friend auto operator<=>(const OwnerRef&, const OwnerRef&) = default;
};

struct OwnerFacts {
  std::map<std::string, int> parts;  // pods that ask for GPUs, by the part of the job; "" where it has none
  bool ordered = false;              // a part's pods are made once those of the part before are ready
  std::string uid;                   // of the object

  int total() const;
  friend bool operator==(const OwnerFacts&, const OwnerFacts&) = default;
};

// Of an object of one of the kinds in the table; what it does not say is left out.
OwnerFacts ReadOwner(const nlohmann::json& object);

}  // namespace crossover::extender
