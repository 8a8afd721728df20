// Keeps what the ResourceQuotas and LimitRanges of each namespace say about resources. Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "extender/admission/by_namespace.h"

namespace crossover::extender::admission {

// A RangeRule is one value of a LimitRange for the containers or pods of its namespace.
struct RangeRule {
  enum class Kind {
    kDefault,  // the API server gives the resource to each container that does not name it
    kMax,      // the next three refuse each container or pod that does not name the resource
    kMin,
    kRatio,
  };

  Kind kind = Kind::kDefault;
  std::string range;     // name of the LimitRange
  std::string resource;  // such as nvidia.com/gpu
  std::string amount;    // as the LimitRange has it

  friend bool operator==(const RangeRule&, const RangeRule&) = default;
};
// Returns the key of a LimitRange for this kind, such as max.
const char* NameOf(RangeRule::Kind kind);

// NamespaceLimits are what the objects of one namespace say together.
struct NamespaceLimits {
  std::set<std::string> quotas;   // what its ResourceQuotas limit, such as requests.nvidia.com/gpu
  std::vector<RangeRule> ranges;  // of its LimitRanges, in the order of their names
};

// Returns the limits of a namespace, or nothing while they are not known.
using LimitsLookup = std::function<std::optional<NamespaceLimits>(const std::string& name_space)>;

// Returns the names of the resources that a ResourceQuota limits. Never throws.
std::set<std::string> ReadQuota(const nlohmann::json& object);
// Returns the rules of a LimitRange for containers and pods. Never throws.
std::vector<RangeRule> ReadLimitRange(const nlohmann::json& object);

class Limits {
 public:
  // Return the handlers for watches of /api/v1/resourcequotas and /api/v1/limitranges.
  kube::ListWatch::Handler* quotas() { return &quotas_; }
  kube::ListWatch::Handler* ranges() { return &ranges_; }

  // Returns the limits of the namespace, or nothing before the first lists.
  std::optional<NamespaceLimits> In(const std::string& name_space) const;

 private:
  ByNamespace<std::set<std::string>> quotas_{&ReadQuota};
  ByNamespace<std::vector<RangeRule>> ranges_{&ReadLimitRange};
};

}  // namespace crossover::extender::admission
