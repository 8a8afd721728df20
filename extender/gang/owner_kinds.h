// The table of those that make the pods of a job: how they are known, and where the job's size stands. What a
// row does not say it does not use.
#pragma once

#include <span>

namespace crossover::extender {

// Paths are keys with dots between them; an empty one is not used.
struct OwnerKind {
  const char* kind = "";         // of the object that says the size
  const char* api_version = "";  // of that kind
  // Labels; annotations of the same name count as well.
  const char* name = "";          // the job: a pod without it is of another kind
  const char* also = "";          // which must be there, too
  const char* index = "";         // which of several jobs of one name
  const char* incarnations = "";  // what differs between an attempt and the next, separated by blanks
  const char* part = "";          // which of its parts a pod is in
  const char* size = "";          // how many pods; empty: the object says it
  // In the object: where its parts are (a list, or a map by part), and in each how many replicas it has, of
  // how many pods each, and the pod template.
  const char* parts = "";
  const char* part_name = "";
  const char* replicas = "";
  const char* pods = "";
  const char* at_most = "";  // there are never more pods than this says
  const char* pod_template = "";
  // Where it says that its parts come one after the other, and the value by which it says so; and where a
  // part says for which others it waits.
  const char* order = "";
  const char* ordered = "";
  const char* after = "";
  const char* leader_template = "";  // of the first of those pods, where it may be another
  bool made_it = false;  // the object is what the pod's ownerReferences name, and its UID an incarnation
  // Or they name a Job that it made for one of its parts, called like the object with this at the end.
  const char* by_job = "";
};

// The most telling first: the pods of a JobSet are also those of a Job.
std::span<const OwnerKind> OwnerKinds();

// Another gang scheduler's mark on a pod: a label or an annotation.
struct OtherScheduler {
  const char* key;
  const char* name;
};
std::span<const OtherScheduler> OtherSchedulers();

}  // namespace crossover::extender
