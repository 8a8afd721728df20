#include "extender/gang/need.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace crossover::extender {
namespace {

// Seen counts the pods of one group of a part.
struct Seen {
  int done = 0;
  int living = 0;
};
using Groups = std::map<std::string, Seen>;  // by the group's name

const OwnerFacts* FactsOf(const GangStore& store, const GangRecord& gang) {
  if (!gang.membership.owner) return nullptr;
  const auto entry = store.owners.find(*gang.membership.owner);
  return entry == store.owners.end() || !entry->second.facts ? nullptr : &*entry->second.facts;
}

std::map<std::string, Groups> SeenOf(const GangStore& store, const GangRecord& gang) {
  std::map<std::string, Groups> seen;
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (!view.living() && !view.done()) continue;
    const Unit unit = UnitOf(*view.pod);
    Seen& group = seen[unit.part][unit.group];
    ++(view.living() ? group.living : group.done);
  }
  return seen;
}

// Returns how many pods a group of the part needs of which `done` pods have done their work, and `living`
// pods are there.
int NeedOfGroup(const Part& part, int done, int living) {
  // The pods of a work queue end together: when one has succeeded, the Job makes no other.
  if (part.most == Part::kUntilOneEnds) return done > 0 ? std::min(part.pods, living) : part.pods;
  return std::clamp(part.most - done, 0, part.pods);
}

int NeedOfPart(const Part& part, const Groups& seen) {
  if (part.groups == 1) {
    if (part.done_groups > 0) return 0;
    Seen all;
    for (const auto& [name, group] : seen) all.done += group.done, all.living += group.living;
    return NeedOfGroup(part, std::max(all.done, part.done), all.living);
  }
  int need = 0, ended = 0;
  for (const auto& [name, group] : seen) {
    const int left = NeedOfGroup(part, group.done, group.living);
    need += left;
    ended += left == 0 ? 1 : 0;
  }
  // The pods of a group that has ended may be gone. The owner still counts the group.
  const int unseen_ended = std::max(0, part.done_groups - ended);
  const int unseen = std::max(0, part.groups - static_cast<int>(seen.size()) - unseen_ended);
  return need + unseen * NeedOfGroup(part, 0, 0);
}

int NeedByOwner(const GangStore& store, const GangRecord& gang, const OwnerFacts& facts, const Head& head) {
  if (facts.ended) return 0;
  const std::map<std::string, Groups> seen =
      head.done > 0 || facts.has_done() ? SeenOf(store, gang) : std::map<std::string, Groups>{};
  int need = 0;
  for (const auto& [name, part] : facts.parts) {
    if (gang.membership.part && *gang.membership.part != name) continue;
    const auto found = seen.find(name);
    need += NeedOfPart(part, found == seen.end() ? Groups{} : found->second);
  }
  return std::min(need, gang.membership.size);
}

// Returns the number of pods that have done their work and that belong to the gang's present attempt: their
// controller has a living pod in the gang. Pods without a controller count once one of the gang is bound:
// before that, they may be left over from a gang of the same name. Of Kueue's pod groups all pods count,
// because the group's name is that of one attempt.
int DoneOfThisAttempt(const GangStore& store, const GangRecord& gang, const Head& head) {
  const bool named_once = gang.membership.known == Known::kByOwner;
  std::set<std::string> controllers;  // UIDs of those of living pods
  std::map<std::string, int> done;    // by the controller's UID
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (view.pod == nullptr) continue;
    const bool bare = !view.pod->owner;
    if (bare && !named_once && head.bound == 0) continue;
    const std::string controller = named_once || bare ? "" : view.pod->owner->uid;
    if (view.living()) controllers.insert(controller);
    if (view.done()) ++done[controller];
  }
  int count = 0;
  for (const std::string& controller : controllers) {
    const auto found = done.find(controller);
    count += found == done.end() ? 0 : found->second;
  }
  return count;
}

// Returns the need of a gang whose pods say its size.
int NeedByPods(const GangStore& store, const GangRecord& gang, const Head& head) {
  const int size = gang.membership.size;
  if (head.done == 0) return size;
  const int done = DoneOfThisAttempt(store, gang, head);
  // If all have done their work and pods wait again, these are of another attempt. More pods than are left
  // are the next ones of a job that has more of them than it runs at a time.
  if (done >= size) return size;
  return std::min(size, std::max(size - done, head.living));
}

}  // namespace

Head CountOf(const GangStore& store, const GangRecord& gang) {
  Head head;
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (!view.living()) {
      head.done += view.done() ? 1 : 0;
      continue;
    }
    ++head.living;
    if (view.bound()) {
      ++(view.leaving() ? head.leaving : head.bound);
    } else if (view.waiting()) {
      ++head.waiting;
      head.newest_s = std::max(head.newest_s, view.pod->created_s);
    }
  }
  return head;
}

int NeedOf(const GangStore& store, const GangRecord& gang, const Head& head) {
  if (gang.membership.size == 0) return 0;
  const OwnerFacts* facts = FactsOf(store, gang);
  return facts == nullptr ? NeedByPods(store, gang, head) : NeedByOwner(store, gang, *facts, head);
}

int LeastOf(const GangStore& store, const GangRecord& gang, int need) {
  const OwnerFacts* facts = FactsOf(store, gang);
  if (facts == nullptr || facts->least == 0 || facts->ordered) return need;
  return std::min(facts->least, need);
}

bool HasEnded(const GangStore& store, const GangRecord& gang) {
  const OwnerFacts* facts = FactsOf(store, gang);
  return facts != nullptr && facts->ended;
}

}  // namespace crossover::extender
