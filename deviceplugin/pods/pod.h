// Defines the part of a pod that the daemon keeps. api::ParsePod() reads pods, and PodOf() takes from the
// result what the daemon uses: a node has few pods, and their constraints are for schedulers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/api/pod.h"
#include "common/kube/pod_requests.h"

namespace crossover::deviceplugin {

struct PodContainer {
  std::string name;
  std::size_t slots = 0;  // slots that the container asks for
  bool own_shm = false;   // the container brings a volume of its own for /dev/shm
};

struct Pod {
  std::string uid;
  std::string name_space;
  std::string name;
  double created_s = 0;       // in seconds since 1970
  std::uint64_t arrival = 0;  // order in which the daemon saw the pods; later is larger
  bool over = false;          // the pod has succeeded or failed
  // Holds the grace period in seconds, as it was when the deletion began. It is unset unless the pod is being
  // deleted.
  std::optional<std::int64_t> grace_s;
  std::map<std::string, std::string> annotations;  // only those of our domain
  std::vector<std::string> switch_faults;          // errors in its switches (FaultsIn)
  // Lists the containers in the order in which the kubelet asks for their slots: init containers first.
  std::vector<PodContainer> containers;
  // Names the job that created the pod, according to the pod's labels. The gang has this name if no
  // annotation sets one.
  std::string owner;
  std::string profile_key;  // key of its job's profile (kube::ProfileKeyOf)
  bool managed = false;     // the pod has the label by which the extender selects pods
  kube::Requests requests;
  bool controlled = false;  // its controller replaces it when it is gone
  std::string controller;   // "Kind/name" of its controller; empty: it has none
  std::string controller_uid;

  // Returns the annotation of our domain with the full name `key`, or an empty string if it is not set.
  const std::string& Annotation(const char* key) const;
};

// Returns the pod with the UID `uid`, or null if there is none.
const Pod* FindPod(const std::vector<Pod>& pods, const std::string& uid);
// Returns the pod with the UID `uid`, or null if there is none or if it has ended.
const Pod* FindLiving(const std::vector<Pod>& pods, const std::string& uid);
// Returns "namespace/name".
std::string NameOf(const Pod& pod);
// Returns whether `a` is older than `b`.
bool CameBefore(const Pod& a, const Pod& b);

// Returns what the daemon keeps of `read`.
Pod PodOf(api::Pod read);

// Returns "namespace/gang". The gang has the name in the annotation, else that of `owner`, else that of the
// pod. The result has at most 127 printable ASCII characters. Other characters become '?'. A name with such
// characters, or a longer one, is cut if needed and ends in a hash of the full name.
std::string GangOf(const Pod& pod);

// Returns the name of a set of pods; no two of these pods may be on one GPU: GangOf() if the pod has a gang
// or a job, else "namespace/Kind/name" of its controller, else GangOf(). Controllers of one name are told
// apart by the caller, by `controller_uid`.
std::string RanksOf(const Pod& pod);

// Returns the UUIDs of the GPUs that each container is assigned, from the assignment annotation:
// {"containers": {"name": ["GPU-.."]}}. Returns an empty map if there is no annotation, or if it cannot be
// read.
std::map<std::string, std::vector<std::string>> AssignmentOf(const Pod& pod);

}  // namespace crossover::deviceplugin
