// Keeps the signals of one GPU: its signaller, its memory, and which clients have it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "deviceplugin/arbiter/extension.h"
#include "deviceplugin/signals/beat.h"
#include "deviceplugin/signals/erasures.h"
#include "deviceplugin/signals/figures.h"
#include "deviceplugin/signals/offer_rule.h"
#include "deviceplugin/signals/signaller_link.h"
#include "deviceplugin/signals/use.h"

namespace crossover::signals {

// A Station is not thread-safe: only the arbiter's thread uses it. Times are those of CLOCK_MONOTONIC.
class Station {
 public:
  // REQUIRES: `observer` outlives the station.
  Station(std::string gpu_uuid, arbiter::Observer* observer)
      : uuid_(std::move(gpu_uuid)), observer_(observer) {}

  void Join(const std::shared_ptr<const arbiter::Member>& member, std::vector<arbiter::Mail>* mail);
  void Leave(std::uint64_t client);
  void Want(std::uint64_t client, bool want);
  // Passes the proof on to the signaller, or answers that it is not written.
  void Ask(std::uint64_t client, const Prove& proof, std::vector<arbiter::Mail>* mail);

  // Takes a signaller. It works if there is no other one, and stands ready otherwise. One that `rests` does
  // neither. Returns why it is not taken: there are too many.
  std::string Attach(std::unique_ptr<SignallerLink> link, bool rests = false);
  // Says whether signallers may use the GPU. If they may not, they release the GPU once it has no client.
  void Set(Use use) {
    if (std::exchange(use_, use) != use) due_ = 0;
  }
  // Reads what the signallers have sent. Closes the descriptors of those that have gone. If the working one
  // has gone, the next one takes over.
  void Read(turn::Time now, std::vector<arbiter::Mail>* mail);
  // Returns the descriptor of the socket of the signaller that works, or -1.
  int fd() const { return Working() == nullptr ? -1 : Working()->fd(); }

  // Does what is due: lets the signaller follow, and tells clients. Returns when it must be called again.
  turn::Time Tick(turn::Time now, std::vector<arbiter::Mail>* mail);
  turn::Time due() const { return due_; }  // what Tick() has returned, or 0 if something has happened since
  Figures figures() const;
  // Returns whether it may be dropped without loss.
  bool empty() const { return clients_.empty() && links_.empty() && resting_.empty() && memory_ == nullptr; }

 private:
  struct Client {
    std::shared_ptr<const arbiter::Member> member;
    bool wants = false;
    crossover_offer_state told = CROSSOVER_OFFER_ASK;
    std::uint64_t told_memory = 0;  // number of the memory that it got
  };
  enum class Following : std::uint8_t { kNo, kAsked, kYes, kRefused };

  bool Apart(const Client& client) const { return client.member->gpu->key != uuid_; }
  void ReadPage(turn::Time now);
  bool KindsMeet() const;
  bool Works(turn::Time now) const;
  void ReadWorking(turn::Time now, std::vector<arbiter::Mail>* mail);
  void ReadReady();
  void Follow(turn::Time now);
  void DropWorking();
  void TellOfRest();
  SignallerLink* Working() const { return links_.empty() ? nullptr : links_.front().get(); }
  void Take(const Signals& signals, std::vector<base::UniqueFd> descriptors, turn::Time now);
  void TakeRefusal(const std::string& reason, turn::Time now);
  void Tell(Client* client, crossover_offer_state state, std::vector<arbiter::Mail>* mail);
  void Log(arbiter::LogLevel level, const std::string& text);

  const std::string uuid_;
  arbiter::Observer* observer_;
  std::map<std::uint64_t, Client> clients_;  // by Member::id
  std::shared_ptr<const arbiter::GpuInfo> turnstile_;
  static constexpr std::size_t kMostSignallers = 4;
  std::vector<std::unique_ptr<SignallerLink>>
      links_;  // the first one's signaller works; the others stand ready
  // These signallers must release the GPU, or have released it.
  std::vector<std::unique_ptr<SignallerLink>> resting_;
  Use use_ = Use::kNotKnown;
  Following following_ = Following::kNo;
  int unanswered_ = 0;  // Follow messages without an answer; the last answer counts
  bool asked_with_memory_ = false;
  turn::Time asked_at_ = 0;
  turn::Time follow_again_ = 0;
  std::shared_ptr<const base::UniqueFd> memory_;  // kept when the signaller goes
  std::uint64_t memory_number_ = 0;               // counts what came in `Signals`
  std::uint32_t bytes_ = 0;
  std::uint32_t area_ = 0;  // of turnstile_; 0: none yet
  Beat beat_;
  Erasures erasures_;
  OfferRule rule_;
  Figures figures_;  // without the signallers, which links_ counts
  turn::Time due_ = 0;
};

}  // namespace crossover::signals
