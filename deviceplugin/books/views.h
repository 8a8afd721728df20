// What the books say when they are asked: values, as of one instant.
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

// What a client's slot of the page says at the instant: claims, which may be anything.
struct Words {
  std::uint32_t mode = 0;   // enum crossover_mode
  std::uint32_t phase = 0;  // enum crossover_phase
  std::uint32_t faults = 0;
  std::uint32_t watch_reason = 0;  // base::WatchReason
  std::uint32_t memory_budget_mib = 0, memory_used_mib = 0, memory_refusals = 0;
  bool holding = false;
  bool waiting = false;
};

// Who is on the GPUs without being a client, as the driver lists processes: beside them nothing is learned of
// jobs, since what is measured then is not what a job takes by itself or in turns.
struct Unheard {
  std::set<std::pair<std::int64_t, std::string>> processes;  // and GPUs; some may still become clients
  std::set<std::string> found_out;  // GPUs with one that takes no part, or that does not belong there
  std::set<std::string> gangs;      // with such a process on any GPU
};

// The time of a client's iteration with no other job on any of its job's GPUs of this machine.
struct StepAlone {
  enum class Source : std::uint8_t {
    kMeasured,    // while that was so
    kRemembered,  // likewise, of an earlier process of the same job
    kEstimated    // from its turns and the gaps between them, while it shares
  };
  turn::Time each = 0;
  turn::Time age = 0;
  Source source = Source::kMeasured;
  double error = 0;  // standard error, as a part of it
};

struct ClientView {
  std::shared_ptr<const arbiter::Member> member;
  Words words;
  turn::Time connected_for = 0;
  bool learned = false;      // has shown a period since it came
  bool offender = false;     // held its turn too long, too often
  bool cap_refused = false;  // its cap on slowdown cannot be kept here
  bool shares = false;       // another job is on one of its job's GPUs of this machine
  std::uint64_t turns = 0;
  std::optional<turn::Time> holds_for;  // of the present turn; unset also where it has just begun
  std::optional<turn::Time> waits_for;
  std::optional<turn::Time> wait;  // medians of the last turns (RecentDurations)
  std::optional<turn::Time> hold;
  // RecentSteps. Until there are any in its present company: the last one before.
  std::optional<turn::Time> step;
  std::optional<turn::Time> present_step;  // likewise, but unset until then, and while no iterations come
  std::optional<StepAlone> alone;
  std::optional<turn::Time> compute;  // of an iteration, on the GPU, as its turns show it (Rhythm::busy)
  std::optional<turn::Time> away;     // and away from it, as the gaps between them do; unset with `compute`
  std::optional<double> slowdown;     // step / alone, while it shares
  double slowdown_error = 0;          // standard error, as a part of it
};

struct GpuView {
  std::string uuid;
  std::vector<ClientView> clients;  // by gang name
  turn::Stats stats;
  turn::Time gated_for = 0;  // in all, while turns were taken
  // Work done per time against one job after the other: the sum over the clients of alone / step. Unset
  // unless two or more clients share and all of these times are known.
  std::optional<double> gain;
  double gain_error = 0;  // standard error, as a part of it
  // Whether the gain may be so far off that it says little.
  bool gain_uncertain() const { return gain.has_value() && gain_error > kUncertain; }
  static constexpr double kUncertain = 0.05;
  std::string why_ungated;  // empty while turns are taken, and without clients
};

// What one client has learned, as of its last report.
struct RankView {
  std::shared_ptr<const arbiter::Member> member;
  JobProfile learned;
  turn::Time joined = 0;
  std::uint64_t iterations = 0;  // since it came, that something could be learned from
  bool disturbed = false;        // by somebody who takes no part: nothing is learned now
};

// A turn that was begun. `ended` is 0 while it lasts.
struct TurnView {
  std::shared_ptr<const arbiter::Member> member;
  turn::Time asked = 0;
  turn::Time began = 0;
  turn::Time ended = 0;
};

}  // namespace crossover::deviceplugin
