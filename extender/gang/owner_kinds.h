// Holds the table of the controllers that make the pods of a job: how to recognize their pods, and where the
// job's size is. A field that a row leaves empty is not used.
//
// A new kind also needs its labels in kOwnerLabels of common/kube/profile_key.cc, from which the profile key
// and the names of jobs come, and the right to read its objects
// (charts/crossover/templates/rbac/extender.yaml).
#pragma once

#include <span>

namespace crossover::extender {

// An OwnerKind is one row. A path consists of keys with dots between them.
struct OwnerKind {
  const char* kind = "";         // of the object that says the size
  const char* api_version = "";  // of that kind
  // The next seven are keys of pod labels. Annotations with the same key count as well.
  const char* name = "";          // the job's name; a pod without it is of another kind
  const char* also = "";          // a second key that the pod must have
  const char* index = "";         // which of several jobs with one name
  const char* incarnations = "";  // keys whose values differ between attempts, separated by blanks
  const char* part = "";          // which part of the job the pod is in
  const char* group = "";         // which replica of the part, if each one is a Job of its own
  const char* size = "";          // the number of pods; empty: the object says it
  // pod_rank.h orders the pods of a gang by the next three. They are keys, too.
  const char* over_parts = "";  // index of the pod's Job over all parts
  const char* indices = "";     // at most two keys, separated by a blank, the wider one first
  bool part_orders = true;      // pods are ordered by `part` before `indices`
  // The next six are paths. `parts` is the list of parts in the object, or a map by part; empty: the object
  // itself is the only part. The others are relative to a part.
  const char* parts = "";
  const char* part_name = "";  // the part's name, in a list
  const char* replicas = "";   // number of replicas
  const char* pods = "";       // number of pods of each replica
  const char* at_most = "";    // number of pods of each replica from the first to the last; missing: no limit
  const char* pod_template = "";  // the template of these pods
  // The next three say what has done its work. `statuses` is the list or map by part, as `parts` is; for a
  // kind without parts it is the status itself. The others are relative to that.
  const char* statuses = "";
  const char* done = "";            // number of pods; if `group` is set, of replicas
  const char* failed_indices = "";  // a list of indices that are not tried again, such as 1,3-5
  // The next three say the least number of pods that the job runs with, if it may grow later. The first that
  // the object has counts: `least` of the part `least_of`, beside all pods of the others, or `least_of_all`.
  const char* least = "";
  const char* least_of = "";
  const char* least_of_all = "";
  // The parts start one after the other if the object has the value `ordered` at the path `order`, or if a
  // part lists others that it waits for, at the path `after`.
  const char* order = "";
  const char* ordered = "";
  const char* after = "";
  const char* leader_template = "";  // path of the first pod's template, if that may be another
  bool made_it = false;  // the pod's controller reference names the object; its UID tells attempts apart
  // Allows that the reference names a Job instead, which the object made for one of its parts. The Job's
  // name is the object's name with this at the end.
  const char* by_job = "";
};

// Returns the rows. The first one that matches counts: the pods of a JobSet are also pods of a Job.
std::span<const OwnerKind> OwnerKinds();

// An OtherScheduler is a label or annotation by which another gang scheduler marks its pods. MembershipOf()
// asks for these before it looks at the rows: a row has no effect on pods that have such a mark.
struct OtherScheduler {
  const char* key;
  const char* name;
};
// Returns the marks of all known gang schedulers.
std::span<const OtherScheduler> OtherSchedulers();

}  // namespace crossover::extender
