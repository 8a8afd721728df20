// What the daemon wants to know of a pod of its node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/kube/pod_requests.h"

namespace crossover::deviceplugin {

struct PodContainer {
  std::string name;
  std::size_t slots = 0;  // it asks for
};

struct Pod {
  std::string uid;
  std::string name_space;
  std::string name;
  std::string created;                  // when: text of the API server, which sorts as time does
  std::uint64_t arrival = 0;            // on this node, as the daemon saw it: larger is later
  bool over = false;                    // it has ended, whether it did its work or not
  std::optional<std::int64_t> grace_s;  // it is being deleted: how long it was given when that began
  std::map<std::string, std::string> annotations;  // ours
  std::vector<std::string> switch_faults;          // what is wrong with its switches (FaultsIn)
  std::vector<PodContainer> containers;  // in the order in which a kubelet asks: those that initialise first
  // By which its gang is known where no annotation says it: from the labels of whoever made it.
  std::string owner;
  std::string profile_key;  // of its job (kube::ProfileKeyOf)
  bool managed = false;     // has the label by which the extender finds it
  kube::Requests requests;
  bool controlled = false;  // whoever made it makes another when it goes

  // An annotation of ours by its full name; empty where it is not set.
  const std::string& Annotation(const char* key) const;
};

// The one with that UID; null where there is none.
const Pod* FindPod(const std::vector<Pod>& pods, const std::string& uid);
// Likewise; null, too, where it is over.
const Pod* FindLiving(const std::vector<Pod>& pods, const std::string& uid);
// namespace/name
std::string NameOf(const Pod& pod);
// Which of two is older.
bool CameBefore(const Pod& a, const Pod& b);

// Nothing for what is no pod, or lacks its names.
std::optional<Pod> ParsePod(const nlohmann::json& object);

// "namespace/gang": of the annotation, or the owner, or the pod alone. At most 127 printable characters;
// longer ones are cut and end in a hash of the whole.
std::string GangOf(const Pod& pod);

// GPUs that each container is to have, from the assignment annotation: {"containers": {"name": ["GPU-.."]}}.
// Empty where there is none, or none that can be read.
std::map<std::string, std::vector<std::string>> AssignmentOf(const Pod& pod);

}  // namespace crossover::deviceplugin
