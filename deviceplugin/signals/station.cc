#include "deviceplugin/signals/station.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/refusal.h"
#include "proto/turnstile.h"

namespace crossover::signals {
namespace {

// So often the station looks at the page while clients want signals, or may wait for some.
constexpr turn::Time kLook = 50 * base::kNsPerMs;
// A signaller that has refused is asked again after this: it may have had no memory.
constexpr turn::Time kFollowAgain = 10 * base::kNsPerSecond;
constexpr int kMostMessagesPerRead = 16;

template <class Wire>
arbiter::Mail MailOf(std::uint64_t client, const Wire& wire,
                     std::shared_ptr<const base::UniqueFd> descriptor = nullptr) {
  const auto bytes = std::as_bytes(std::span(&wire, 1));
  return {client, {bytes.begin(), bytes.end()}, std::move(descriptor)};
}

}  // namespace

void Station::Log(arbiter::LogLevel level, const std::string& text) {
  observer_->OnLog(level, "gpu " + uuid_ + ": " + text);
}

void Station::Join(const std::shared_ptr<const arbiter::Member>& member, std::vector<arbiter::Mail>* mail) {
  Client client{.member = member};
  if (!Apart(client) && member->gpu != turnstile_) {
    turnstile_ = member->gpu;
    following_ = Following::kNo;
    follow_again_ = 0;
    area_ = 0;
  }
  clients_.insert_or_assign(member->id, client);
  mail->push_back(MailOf(member->id, MakeOffer(CROSSOVER_OFFER_ASK, 0, 0)));
  due_ = 0;
}

void Station::Leave(std::uint64_t client) {
  if (clients_.erase(client) != 0) erasures_.NoteLeaver();
  due_ = 0;
}

void Station::Want(std::uint64_t client, bool want) {
  const auto it = clients_.find(client);
  if (it == clients_.end()) return;
  it->second.wants = want;
  it->second.told = CROSSOVER_OFFER_ASK;
  due_ = 0;
}

void Station::Ask(std::uint64_t client, const Prove& proof, std::vector<arbiter::Mail>* mail) {
  const auto it = clients_.find(client);
  if (it == clients_.end()) return;
  const Client& asker = it->second;
  const bool has = asker.told == CROSSOVER_OFFER_GIVEN && proof.area == area_ && Working() != nullptr;
  if (has && Working()->SendProve(MakeProve(client, asker.member->slot, proof))) return;
  ++figures_.proofs_failed;
  due_ = 0;
  mail->push_back(MailOf(client, MakeProven(proof, false)));
}

bool Station::Works(turn::Time now) const {
  if (following_ == Following::kAsked) return now - asked_at_ < Beat::kStill;
  return following_ != Following::kYes || !beat_.still(now);
}

std::string Station::Attach(std::unique_ptr<SignallerLink> link, bool rests) {
  ReadReady();
  if (links_.size() + resting_.size() == kMostSignallers)
    return base::Refusal("gpu " + uuid_, "at most " + std::to_string(kMostSignallers) + " signallers",
                         "one more");
  due_ = 0;
  if (rests) {
    resting_.push_back(std::move(link));
    return "";
  }
  links_.push_back(std::move(link));
  Log(arbiter::LogLevel::kInfo,
      "process " + std::to_string(links_.back()->pid()) +
          (links_.size() == 1 ? " is its signaller" : " stands ready to be its signaller"));
  return "";
}

// Tells signallers to release the GPU, or to use it again. They connect anew when they have done so. The kept
// memory is one more use of the GPU, and goes, too.
void Station::TellOfRest() {
  if (use_ == Use::kAllowed) {
    for (const auto& link : resting_) link->SendRest(false);
    resting_.clear();
    return;
  }
  if (use_ != Use::kEnded || !clients_.empty()) return;
  if (!links_.empty())
    Log(arbiter::LogLevel::kInfo,
        "its signallers release the GPU: the node is in maintenance, and the GPU has no client");
  for (auto& link : links_) {
    if (link->SendRest(true)) resting_.push_back(std::move(link));
  }
  links_.clear();
  following_ = Following::kNo;
  unanswered_ = 0;
  memory_ = nullptr;
  area_ = 0;
}

// Lets the signaller work that has stood ready for longest.
void Station::DropWorking() {
  ReadReady();
  links_.erase(links_.begin());
  following_ = Following::kNo;
  unanswered_ = 0;
  follow_again_ = 0;
  if (const SignallerLink* const next = Working())
    Log(arbiter::LogLevel::kInfo, "process " + std::to_string(next->pid()) + " is its signaller");
  due_ = 0;
}

// Drops the signallers that stood ready and have gone. One that stands ready has nothing to say.
void Station::ReadReady() {
  std::erase_if(resting_, [](const auto& link) {
    link->Receive();
    return link->ended();
  });
  if (links_.empty()) return;
  const auto gone = [this](const auto& link) {
    const auto received = link->Receive();
    if (!link->ended() && !received) return false;
    Log(arbiter::LogLevel::kWarn, "process " + std::to_string(link->pid()) + ", which stood ready, has gone");
    return true;
  };
  links_.erase(std::remove_if(links_.begin() + 1, links_.end(), gone), links_.end());
}

Figures Station::figures() const {
  Figures figures = figures_;
  figures.signallers = static_cast<int>(links_.size());
  for (const auto& link : links_) {
    if (link->pid() != 0) figures.processes.push_back(link->pid());
  }
  figures.exported_bytes = memory_ == nullptr ? 0 : bytes_;
  return figures;
}

void Station::Read(turn::Time now, std::vector<arbiter::Mail>* mail) {
  ReadReady();
  ReadWorking(now, mail);
}

void Station::ReadWorking(turn::Time now, std::vector<arbiter::Mail>* mail) {
  for (int i = 0; i < kMostMessagesPerRead && !links_.empty(); ++i) {
    auto received = Working()->Receive();
    if (Working()->ended()) {
      Log(arbiter::LogLevel::kWarn,
          "its signaller, process " + std::to_string(Working()->pid()) + ", has gone");
      return DropWorking();
    }
    if (!received) return;
    due_ = 0;
    if (const auto* signals = std::get_if<Signals>(&received->message)) {
      Take(*signals, std::move(received->descriptors), now);
    } else if (const auto* refused = std::get_if<Refused>(&received->message)) {
      TakeRefusal(refused->reason, now);
    } else if (const auto* proven = std::get_if<Proven>(&received->message)) {
      ++(proven->written ? figures_.proofs_written : figures_.proofs_failed);
      if (clients_.contains(proven->client))
        mail->push_back(MailOf(proven->client, MakeProven(proven->proof, proven->written)));
    } else if (const auto* broken = std::get_if<Broken>(&received->message)) {
      Log(arbiter::LogLevel::kError, "its signaller: " + broken->reason);
      return DropWorking();
    }
  }
}

void Station::Take(const Signals& signals, std::vector<base::UniqueFd> descriptors, turn::Time now) {
  if (unanswered_ == 0 || --unanswered_ > 0 || following_ != Following::kAsked) return;
  following_ = Following::kYes;
  memory_ = std::make_shared<const base::UniqueFd>(std::move(descriptors[0]));
  ++memory_number_;
  bytes_ = signals.bytes;
  area_ = signals.area;
  beat_.Begin(now);
  erasures_.Begin(arbiter::Atomic(turnstile_->page->get()->signals_again).load(), now);
}

void Station::TakeRefusal(const std::string& reason, turn::Time now) {
  if (unanswered_ == 0 || --unanswered_ > 0 || following_ != Following::kAsked) return;
  Log(arbiter::LogLevel::kError, "its signaller does not follow the turnstile: " + reason);
  if (asked_with_memory_) {  // no signaller can go on with these words: the next one makes its own
    memory_ = nullptr;
    area_ = 0;
    following_ = Following::kNo;
    return;
  }
  following_ = Following::kRefused;
  follow_again_ = now + kFollowAgain;
}

void Station::Follow(turn::Time now) {
  asked_with_memory_ = memory_ != nullptr;
  if (!Working()->SendFollow(turnstile_->page->fd(), asked_with_memory_ ? memory_->get() : -1,
                             asked_with_memory_ ? area_ : 0)) {
    follow_again_ = now + base::kNsPerSecond;
    return;
  }
  ++unanswered_;
  asked_at_ = now;
  following_ = Following::kAsked;
}

void Station::ReadPage(turn::Time now) {
  if (following_ != Following::kYes) return;
  crossover_page& page = *turnstile_->page->get();
  beat_.Note(arbiter::Atomic(page.signaller_beat).load(), now);
  figures_.again += erasures_.Note(arbiter::Atomic(page.signals_again).load(), now);
}

// Returns whether a client takes turns, or is about to, that asks for no signals. A client that still learns
// takes no turns, so it does not count. Neither does a client with a page of its own.
bool Station::KindsMeet() const {
  return std::any_of(clients_.begin(), clients_.end(), [this](const auto& entry) {
    const Client& client = entry.second;
    if (client.wants || Apart(client)) return false;
    const std::uint32_t phase =
        arbiter::Atomic(client.member->gpu->page->slot(client.member->slot).phase).load();
    return phase == CROSSOVER_PHASE_LOCKED || phase == CROSSOVER_PHASE_TAKING;
  });
}

void Station::Tell(Client* client, crossover_offer_state state, std::vector<arbiter::Mail>* mail) {
  const bool given = state == CROSSOVER_OFFER_GIVEN;
  if (client->told == state && (!given || client->told_memory == memory_number_)) return;
  // A client that has not been told anything hears of the answer that is on its way.
  if (client->told == CROSSOVER_OFFER_ASK && following_ == Following::kAsked) return;
  client->told = state;
  client->told_memory = memory_number_;
  ++figures_.offers[state];
  mail->push_back(MailOf(client->member->id, MakeOffer(state, area_, bytes_), given ? memory_ : nullptr));
}

turn::Time Station::Tick(turn::Time now, std::vector<arbiter::Mail>* mail) {
  if (now < due_) return due_;
  const bool wanted =
      std::any_of(clients_.begin(), clients_.end(), [](const auto& entry) { return entry.second.wants; });
  // Clients that have seen a beat stand still want none until it moves, and their streams may wait for
  // signals.
  const bool followed = wanted || (memory_ != nullptr && !clients_.empty());
  ReadPage(now);
  TellOfRest();
  if (links_.size() > 1 && !Works(now)) {
    Log(arbiter::LogLevel::kWarn, "its signaller stands still: another one takes its place");
    DropWorking();
  }
  if (following_ == Following::kRefused && now >= follow_again_) following_ = Following::kNo;
  if (followed && Working() != nullptr && turnstile_ != nullptr && following_ == Following::kNo &&
      now >= follow_again_) {
    Follow(now);
  }
  const crossover_offer_state before = rule_.state();
  const crossover_offer_state state = rule_.Advance({.followed = following_ == Following::kYes,
                                                     .refused = following_ == Following::kRefused,
                                                     .still = beat_.still(now),
                                                     .erased = erasures_.many(now),
                                                     .kinds_meet = KindsMeet()},
                                                    now);
  if (wanted && state != before) {
    Log(arbiter::LogLevel::kInfo, state == CROSSOVER_OFFER_GIVEN
                                      ? std::string("clients that ask get signals")
                                      : std::string("clients do without signals: ") + TextOf(state));
  }
  for (auto& [id, client] : clients_) {
    if (client.wants) Tell(&client, Apart(client) ? CROSSOVER_OFFER_APART : state, mail);
  }
  due_ = followed ? now + kLook : turn::kNever;
  return due_;
}

}  // namespace crossover::signals
