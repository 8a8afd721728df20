#include "extender/gang/gang_store.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/base/names.h"

namespace crossover::extender {

bool AsNewAs(const std::string& version, const std::string& other) {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  const auto number = [](const std::string& text, std::uint64_t* value) {
    return std::from_chars(text.data(), text.data() + text.size(), *value).ec == std::errc();
  };
  return !number(version, &a) || !number(other, &b) || a >= b;
}

GangRecord* GangStore::GangOf(const std::string& uid) {
  const auto found = gang_of.find(uid);
  const auto gang = found == gang_of.end() ? gangs.end() : gangs.find(found->second);
  return gang == gangs.end() ? nullptr : &gang->second;
}

bool GangStore::MayWrite(const Member& member) const {
  return member.in_flight == 0 && now_s >= std::max(member.retry_s, quiet_until_s);
}

Action* GangStore::Begin(GangRecord& gang, const std::string& uid, Action::Kind kind, std::string node,
                         std::string text) {
  Member& member = gang.members.at(uid);
  const Pod* pod = cache->FindPod(uid);
  if (pod == nullptr || !MayWrite(member)) return nullptr;
  member.in_flight = next++;
  writes[member.in_flight] = {kind, gang.membership.id, uid, gang.plan ? gang.plan->id : ""};
  actions.push_back({.kind = kind,
                     .id = member.in_flight,
                     .pod = {.uid = uid, .name_space = pod->name_space, .name = pod->name},
                     .node = std::move(node),
                     .text = std::move(text)});
  return &actions.back();
}

void GangStore::Answer(Member& member, std::string error) {
  if (!member.bind_handle) return;
  actions.push_back(
      {.kind = Action::Kind::kAnswer, .text = std::move(error), .bind_handle = *member.bind_handle});
  member.bind_handle.reset();
}

bool GangStore::MaySearch(GangRecord& gang) {
  if (searches == 0) {
    later.insert(gang.membership.id);
    return false;
  }
  --searches;
  gang.searched = ++searched;
  return true;
}

void GangStore::Say(GangRecord& gang, std::string text) { gang.text = std::move(text); }

View ViewOf(const GangStore& store, const std::string& uid, const Member& member) {
  return {store.cache->FindPod(uid), &member};
}

View ViewOf(const GangStore& store, const GangRecord& gang, const std::string& uid) {
  return ViewOf(store, uid, gang.members.at(uid));
}

std::vector<const Pod*> PodsOf(const GangStore& store, const GangRecord& gang) {
  std::vector<const Pod*> pods;
  for (const auto& [uid, member] : gang.members) {
    if (const Pod* pod = store.cache->FindPod(uid)) pods.push_back(pod);
  }
  return pods;
}

bool View::current() const { return pod != nullptr && AsNewAs(pod->version, member->version); }

bool View::gated() const {
  return pod != nullptr && !member->lifted &&
         std::ranges::find(pod->gates, std::string_view(base::kGangGate)) != pod->gates.end();
}

bool View::other_gates() const {
  return pod != nullptr &&
         std::ranges::any_of(pod->gates, [](const std::string& gate) { return gate != base::kGangGate; });
}

bool View::may_have_reservation() const {
  if (member->maybe_reserved || pod == nullptr || !current()) return member->maybe_reserved;
  return pod->annotations.contains(base::kReservationAnnotation);
}

}  // namespace crossover::extender
