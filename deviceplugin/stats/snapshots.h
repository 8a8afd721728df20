// Defines the values that StatsStore returns. Each is a snapshot of one instant.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "deviceplugin/arbiter/observer.h"
#include "deviceplugin/profiles/job_profile.h"

namespace crossover::deviceplugin {

// SlotSnapshot holds the words of a client's slot of the page. The client can write anything there.
struct SlotSnapshot {
  std::uint32_t mode;   // enum crossover_mode
  std::uint32_t phase;  // enum crossover_phase
  std::uint32_t faults;
  std::uint32_t watch_reason;  // base::WatchReason
  std::uint32_t memory_budget_mib, memory_used_mib, memory_refusals;
  bool holding;
  bool waiting;
};

// UnregisteredProcesses holds the processes on the GPUs that are not registered clients, as the driver lists
// them. The daemon learns no timings of jobs beside them: such times are neither those of a job alone nor
// those of jobs that take turns.
struct UnregisteredProcesses {
  std::set<std::pair<std::int64_t, std::string>> processes;  // PID and GPU; some may still become clients
  std::set<std::string>
      found_out;                // GPUs with a process that has no slot there, or has one and takes no part
  std::set<std::string> gangs;  // gangs that a process without part belongs to
};

// A StepAlone is the time of a client's iteration while no other job is on any of its job's GPUs of this
// machine.
struct StepAlone {
  enum class Source : std::uint8_t {
    kMeasured,    // measured on this process while that was so
    kRemembered,  // measured in the same way on an earlier process of the job
    kEstimated    // computed from its turns and the gaps between them, while it shares
  };
  turn::Time each = 0;
  turn::Time age = 0;
  Source source = Source::kMeasured;
  double error = 0;  // standard error, relative to `each`
};

struct ClientView {
  std::shared_ptr<const arbiter::Member> member;
  SlotSnapshot slot{};
  turn::Time connected_for = 0;
  bool learned = false;      // the client has shown a period since it joined
  bool offender = false;     // the client held its turn for too long, too often
  bool cap_refused = false;  // its cap on slowdown cannot be kept here
  bool shares = false;       // another job is on one of its job's GPUs of this machine
  std::uint64_t turns = 0;
  std::optional<turn::Time> holds_for;  // time in the present turn; unset also if the turn has just begun
  std::optional<turn::Time> waits_for;
  std::optional<turn::Time> wait;  // medians of the last turns (RecentDurations)
  std::optional<turn::Time> hold;
  // `step` is the mean of RecentSteps since the client last began or ceased to share. Until there is one,
  // `step` is the one from before that change, and `present_step` is unset.
  std::optional<turn::Time> step;
  std::optional<turn::Time> present_step;
  std::optional<StepAlone> alone;
  std::optional<turn::Time> compute;  // per iteration, on the GPU, as its turns show it (TimingModel::busy)
  std::optional<turn::Time> away;     // per iteration, away from it, as the gaps show it; set with `compute`
  std::optional<turn::Time> input_wait;  // the part of `away` for which its host launches nothing
  std::optional<double> slowdown;        // step / alone, while it shares
  double slowdown_error = 0;             // standard error, relative to `slowdown`
  std::shared_ptr<const crossover_reductions> reductions{};  // null: it has said nothing of them
};

struct GpuView {
  std::string uuid;
  std::vector<ClientView> clients;  // by gang name
  turn::Stats stats;
  turn::Time gated_for = 0;  // total time for which its clients took turns
  // The work done per time, relative to one job after the other, is the sum over the clients of alone /
  // step. It is unset unless two or more clients share and all of these times are known.
  std::optional<double> gain;
  double gain_error = 0;  // standard error, relative to `gain`
  // Returns whether the error of the gain is so large that the gain says little.
  bool gain_uncertain() const { return gain.has_value() && gain_error > kUncertain; }
  static constexpr double kUncertain = 0.05;
  std::string why_ungated;  // empty while turns are taken, and without clients
};

// A RankView is what one client has learned, as of its last report.
struct RankView {
  std::shared_ptr<const arbiter::Member> member;
  JobProfile learned;
  turn::Time joined = 0;
  std::uint64_t iterations = 0;  // since it joined, without disturbed ones
  bool disturbed = false;        // a process that is not registered is beside it: no timings are learned now
  std::shared_ptr<const arbiter::CallList> calls{};  // in an iteration; null: it has not said
  std::optional<turn::Time> wait{};                  // median of its last waits for a turn
  std::optional<turn::Time> input_wait{};            // as in ClientView
  bool told_of_reductions = false;                   // the client has said something of them
};

// A ReductionsView says which reductions of a client are compressed. `reductions` is never null.
struct ReductionsView {
  std::shared_ptr<const arbiter::Member> member;
  std::shared_ptr<const crossover_reductions> reductions;
};

// A TurnView is a turn that has begun. `ended` is 0 while it lasts.
struct TurnView {
  std::shared_ptr<const arbiter::Member> member;
  turn::Time asked = 0;
  turn::Time began = 0;
  turn::Time ended = 0;
};

}  // namespace crossover::deviceplugin
