// Lists the pods that a scheduler counts on nodes. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// A Resident is a pod that is bound to a node, or that a plan gives a place there.
struct Resident {
  const Pod* pod = nullptr;
  std::string node;
  std::string gang;  // its id; empty: none
};

// Residents are those of one moment. They refer to the ClusterCache, and are valid until it changes.
class Residents {
 public:
  explicit Residents(const GangStore& store);

  // Returns the residents by the namespace of their pod.
  const std::map<std::string, std::vector<Resident>>& by_namespace() const { return by_namespace_; }
  // Returns the residents that have ports of the host.
  const std::vector<Resident>& with_ports() const { return with_ports_; }

  // An Aloof holds pods of one gang with equal anti-affinity, and the nodes that they are on.
  struct Aloof {
    const Pod* pod = nullptr;
    std::vector<Resident> residents;
  };
  const std::vector<Aloof>& aloof() const { return aloof_; }

 private:
  void Add(const Pod& pod, const std::string& node, const std::string& gang);
  std::map<std::string, std::vector<Resident>> by_namespace_;
  std::vector<Resident> with_ports_;
  std::vector<Aloof> aloof_;
  std::map<std::string, std::vector<std::size_t>> aloof_of_;  // indices, by gang
};

}  // namespace crossover::extender
