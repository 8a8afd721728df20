// Keeps the state of one GPU for the arbiter: its page, its clients and its turnstile.
//
// Not thread-safe: only the arbiter's thread uses it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/watch_reason.h"
#include "deviceplugin/arbiter/cap_admission.h"
#include "deviceplugin/arbiter/iteration_counter.h"
#include "deviceplugin/arbiter/membership.h"
#include "deviceplugin/arbiter/mode_rule.h"
#include "deviceplugin/arbiter/observer.h"
#include "deviceplugin/arbiter/tamper_detector.h"
#include "turn/turnstile.h"

namespace crossover::arbiter {

class Gpu {
 public:
  Gpu(std::shared_ptr<const GpuInfo> info, const turn::Settings& settings, Policy policy, Observer* observer);

  // Gives `member` a free slot, fills in its slot and GPU, and prepares that slot of the page before the
  // client maps it. Returns the client with its slot, or the reason if the client is refused.
  std::variant<std::shared_ptr<const Member>, Membership::Refusal> Join(std::shared_ptr<Member> member,
                                                                        turn::Time now);
  void Leave(turn::SlotIndex slot, turn::Time now);

  // Makes one pass over the page. Returns when the next pass is due, or turn::kNever without clients.
  turn::Time Poll(turn::Time now);

  // A Notice is a text for one client.
  struct Notice {
    std::uint64_t client;  // Member::id
    std::string text;
  };
  // Returns the notices that have come up since the last call.
  std::vector<Notice> TakeNotices() { return std::exchange(notices_, {}); }

  // The next Poll applies these settings.
  void set_policy(Policy policy) { policy_ = policy; }
  // Says whether the GPU is held. On a held GPU clients take no turns and the arbiter measures nothing,
  // because a process there takes no part in turns and would falsify the measurements.
  void set_held(bool held) { held_ = held; }
  void set_guard(bool on) { guarded_ = on; }
  void set_settings(const turn::Settings& settings) { turnstile_.set_settings(settings); }

  bool empty() const { return membership_.members().Count() == 0; }
  // damaged() returns whether a client has written over words of the page that are not its own. The arbiter
  // then trusts nothing on the page. evidence() says in words what it has found.
  bool damaged() const { return page_guard_.damaged(); }
  std::string evidence() const { return page_guard_.evidence(); }
  std::vector<std::shared_ptr<const Member>> Members() const;
  // Takes() returns whether the client in `slot` takes turns now, and ReasonOf() why it takes none. Both are
  // the client's own claims, and it may claim anything.
  bool Takes(turn::SlotIndex slot) const;
  base::WatchReason ReasonOf(turn::SlotIndex slot) const;
  // Returns whether a client waits at a shut gate. Then it is too early to stop the daemon.
  bool AnyWaits() const;
  const GpuInfo& info() const { return *info_; }

 private:
  void ApplyMode(turn::Time now);
  bool Measure(turn::Time now);
  bool Guarded() const;
  void AllowSlices(bool allowed);
  turn::Guard::Plan ChooseWay(turn::Time now);
  void JudgePromises(turn::Time now);
  void Reorder();
  void PublishHints();
  void Report(turn::Time now);
  void WatchSteps(turn::Time now);
  Event EventOf(EventKind kind, turn::SlotIndex slot, turn::Time at, turn::Time duration) const;
  void Emit(EventKind kind, turn::SlotIndex slot, turn::Time at, turn::Time duration = 0);
  void Emit(const turn::Event& turn);
  bool AnyTakesTurns() const;

  std::shared_ptr<const GpuInfo> info_;
  PageMemory memory_;
  TamperDetector page_guard_;
  Membership membership_;
  turn::Turnstile turnstile_;
  std::array<std::shared_ptr<const Member>, turn::kMaxSlots> member_;
  std::array<IterationCounter, turn::kMaxSlots> steps_;
  turn::SlotSet offenders_;
  turn::SlotSet measured_;  // clients that need no measurement alone now (Measure)
  std::array<turn::Time, turn::kMaxSlots> measured_at_ = {};
  turn::SlotSet shared_;  // clients that have shared the GPU with another client
  CapAdmission cap_admission_;
  std::vector<Notice> notices_;
  turn::Guard guard_;
  turn::Slices::Reason slices_ended_ = turn::Slices::Reason::kNone;  // as last logged
  bool guarded_ = false;
  std::uint64_t trials_ = 0;
  turn::Stats told_;  // as last reported
  crossover_mode mode_ = CROSSOVER_MODE_OBSERVE;
  Policy policy_;
  bool held_ = false;
  Observer* observer_;
};

}  // namespace crossover::arbiter
