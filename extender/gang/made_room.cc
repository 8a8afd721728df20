#include "extender/gang/made_room.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/hash.h"
#include "common/kube/json.h"

namespace crossover::extender {
namespace {

using nlohmann::json;

constexpr double kRememberedS = 86'400;  // a day

// Returns since when this leader knows that a pod of the gang is bound, or the present time if none is.
double BoundSince(const GangStore& store, const GangRecord& gang) {
  double since_s = store.now_s;
  for (const auto& [uid, member] : gang.members) {
    if (member.bound_s > 0) since_s = std::min(since_s, member.bound_s);
  }
  return since_s;
}

}  // namespace

std::string MarkOf(const Membership& membership) {
  std::string of = membership.maker.id;
  if (membership.known != Known::kNotKnown) of = membership.name_space() + "/" + membership.name;
  return base::HexOf(base::Hash(of)).data();
}

std::string VictimKeyOf(const Membership& membership) {
  if (membership.known != Known::kNotKnown) return MarkOf(membership);
  return base::HexOf(base::Hash(membership.id)).data();
}

const MadeRoom* MadeRoomOf(const GangStore& store, const GangRecord& gang) {
  const auto found = store.made_room.find(MarkOf(gang.membership));
  if (found == store.made_room.end()) return nullptr;
  if (gang.membership.known != Known::kNotKnown) return &found->second;
  // Such a controller makes many pods, and one of them made room. Those that came afterwards may be in its
  // place. The API server cuts the fraction of a second from the time of a pod's creation.
  const double since_s = std::floor(found->second.at_s);
  const auto came_before = [since_s](const Pod* pod) { return pod->created_s < since_s; };
  return std::ranges::any_of(PodsOf(store, gang), came_before) ? nullptr : &found->second;
}

void NoteMadeRoom(GangStore& store, const GangRecord& gang) {
  const double age_s = AgeOf(store, gang);
  store.made_room[MarkOf(gang.membership)] = {.at_s = store.now_s, .since_s = age_s};
}

double AgeOf(const GangStore& store, const GangRecord& gang) {
  double age_s = store.now_s;
  for (const Pod* pod : PodsOf(store, gang)) age_s = std::min(age_s, pod->created_s);
  const MadeRoom* made = MadeRoomOf(store, gang);
  return made == nullptr ? age_s : std::min(age_s, made->since_s);
}

double SparedUntil(const GangStore& store, const GangRecord& gang, std::optional<double> started_s) {
  const MadeRoom* made = MadeRoomOf(store, gang);
  if (made == nullptr) return 0;
  return std::max(made->at_s, started_s.value_or(BoundSince(store, gang))) + store.settings.spare_s;
}

void SayThatItMadeRoom(GangStore& store, GangRecord& gang) {
  const MadeRoom* made = MadeRoomOf(store, gang);
  if (made == nullptr) return;
  const std::string text = WriteMadeRoom(*made);
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (!view.waiting() || !view.current()) continue;
    const auto says = view.pod->annotations.find(kMadeRoomAnnotation);
    if (says != view.pod->annotations.end() && says->second == text) continue;
    store.Begin(gang, uid, Action::Kind::kAge, "", text);
  }
}

void Recall(GangStore& store, const std::string& mark, const MadeRoom& made) {
  const auto [known, added] = store.made_room.emplace(mark, made);
  if (!added && known->second.at_s < made.at_s) known->second = made;
}

void RecallMadeRoom(GangStore& store) {
  for (const auto& [id, gang] : store.gangs) {
    for (const Pod* pod : PodsOf(store, gang)) {
      const auto says = pod->annotations.find(kMadeRoomAnnotation);
      const auto made = says == pod->annotations.end() ? std::nullopt : ReadMadeRoom(says->second);
      if (made) Recall(store, MarkOf(gang.membership), *made);
    }
  }
}

void ForgetOldRoom(GangStore& store) {
  std::erase_if(store.made_room,
                [&store](const auto& entry) { return store.now_s > entry.second.at_s + kRememberedS; });
}

std::string WriteMadeRoom(const MadeRoom& made) {
  return kube::Dump({{"at", made.at_s}, {"since", made.since_s}});
}

std::optional<MadeRoom> ReadMadeRoom(const std::string& text) {
  const json said = json::parse(text, nullptr, false);
  const json& at = kube::At(said, "at");
  const json& since = kube::At(said, "since");
  if (!at.is_number() || !since.is_number()) return std::nullopt;
  return MadeRoom{.at_s = at.get<double>(), .since_s = since.get<double>()};
}

}  // namespace crossover::extender
