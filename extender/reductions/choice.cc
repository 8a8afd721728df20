#include "extender/reductions/choice.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "common/gains/memory_bandwidth.h"
#include "common/gains/shrink.h"
#include "common/text/number.h"

namespace crossover::extender {
namespace {

using base::PlainReason;
using base::ShrinkLevel;
using gains::ShrinkTo;
using gains::WhyNoShrink;
using placement::Gang;
using placement::Seat;

ShrinkChosen Off(PlainReason reason, std::string why) {
  return {{.level = ShrinkLevel::kOff, .why = reason}, std::move(why)};
}

PlainReason ReasonOf(WhyNoShrink why) {
  switch (why) {
    case WhyNoShrink::kOneNode:
      return PlainReason::kOneNode;
    case WhyNoShrink::kShortWait:
    case WhyNoShrink::kHidden:
      return PlainReason::kNotNeeded;
    case WhyNoShrink::kAlone:
    case WhyNoShrink::kNoReduction:
    case WhyNoShrink::kNoGain:
      return PlainReason::kNoGain;
  }
  return PlainReason::kNoGain;
}

bool Holds(const Occupant& occupant, const std::string& node, const std::string& gpu) {
  return std::ranges::any_of(*occupant.seats, [&](const Seat& seat) {
    return seat.node == node && std::ranges::find(seat.gpus, gpu) != seat.gpus.end();
  });
}

gains::ShrinkJob JobOf(const Gang& gang) {
  return {.compute_s = gang.profile.compute_s,
          .exposed_s = gang.profile.exposed_s,
          .link_s = gang.profile.link_s};
}

std::string NameOf(const Gang& gang) { return gang.space + "/" + gang.name; }

// A Beside has the other jobs on that GPU of the gang whose other jobs compute most, in steps of the gang.
struct Beside {
  std::vector<gains::ShrinkJob> jobs{};
  std::string names{};
};

// Returns nothing, and sets `why`, if the times of a gang beside it are not known.
std::optional<Beside> BesideOf(const ShrinkQuestion& question, std::string* why) {
  const double step_s = gains::StepBeside(JobOf(*question.own.gang), {});
  Beside busiest;
  double most_s = -1;
  for (const Seat& seat : *question.own.seats) {
    for (const std::string& gpu : seat.gpus) {
      Beside beside;
      double compute_s = 0;
      for (const Occupant& other : question.others) {
        if (!Holds(other, seat.node, gpu)) continue;
        if (!other.gang->profile.known()) {
          *why = "the times of " + NameOf(*other.gang) + ", which is beside it, are not known yet";
          return std::nullopt;
        }
        beside.jobs.push_back(gains::InStepsOf(step_s, JobOf(*other.gang)));
        beside.names += (beside.names.empty() ? "" : ", ") + NameOf(*other.gang);
        compute_s += beside.jobs.back().compute_s;
      }
      if (compute_s <= most_s) continue;
      most_s = compute_s;
      busiest = std::move(beside);
    }
  }
  return busiest;
}

// A Sent says how much of what a job sends are reductions.
struct Sent {
  double part = 1;      // 0 to 1; 1 if nothing is known
  double elements = 0;  // that a rank reduces in an iteration; 0: not known
};

Sent SentBy(const JobProfile* profile, int ranks_of_pod) {
  Sent sent;
  if (profile == nullptr) return sent;
  double all = 0, reduced = 0;
  std::map<int, double> by_pod;
  for (const api::CallGroup& group : profile->communication.groups) {
    const auto members = static_cast<double>(group.members.size());
    const double bytes = static_cast<double>(group.bytes);
    const double calls = api::IsBetweenTwo(group.function) ? 1 : members;
    const double moved = calls * api::RingBytes(group.function, std::max(1.0, members), bytes);
    all += moved;
    if (group.function != api::NcclFunction::kAllReduce) continue;
    reduced += moved;
    for (const int pod : group.members) by_pod[pod] += bytes;
  }
  if (all <= 0) return sent;
  sent.part = reduced / all;
  for (const auto& [pod, bytes] : by_pod)
    sent.elements = std::max(sent.elements, bytes / std::max(1, ranks_of_pod) / sizeof(float));
  return sent;
}

// Returns the bandwidth of the slowest memory of the gang's GPUs, or 0 if one is not known.
double SlowestMemory(const ShrinkQuestion& question) {
  double slowest = 0;
  for (const Seat& seat : *question.own.seats) {
    const auto node = std::ranges::find(question.nodes, seat.node, &placement::Node::name);
    if (node == question.nodes.end()) return 0;
    for (const std::string& uuid : seat.gpus) {
      const auto gpu = std::ranges::find(node->gpus, uuid, &placement::Gpu::uuid);
      const double speed = gpu == node->gpus.end() ? 0 : gains::MemoryBandwidthOf(gpu->model);
      if (speed <= 0) return 0;
      slowest = slowest == 0 ? speed : std::min(slowest, speed);
    }
  }
  return slowest;
}

std::string InMs(double seconds) { return text::Decimal(text::ToFourFigures(seconds * 1e3)) + " ms"; }

std::string WhyOf(const gains::ShrinkGain& gain, const gains::ShrinkCase& shrink, const std::string& beside) {
  const std::string own = "its wait for communication is " + InMs(shrink.own.exposed_s) +
                          " of an iteration and its compute " + InMs(shrink.own.compute_s);
  if (gain.why_not) return std::string(gains::InWords(*gain.why_not)) + ": " + own;
  const auto after = [&gain](ShrinkTo level) { return InMs(gain.after_s[static_cast<std::size_t>(level)]); };
  return own + "; beside " + beside + " a step takes " + InMs(gain.before_s) + ", with bf16 " +
         after(ShrinkTo::kBf16) + " and with q8 " + after(ShrinkTo::kQ8);
}

}  // namespace

ShrinkChosen ChooseShrink(const ShrinkQuestion& question) {
  const Gang& gang = *question.own.gang;
  std::set<std::string> nodes;
  for (const Seat& seat : *question.own.seats) nodes.insert(seat.node);
  if (nodes.size() < 2) return Off(PlainReason::kOneNode, gains::InWords(WhyNoShrink::kOneNode));
  if (!gang.profile.known())
    return Off(PlainReason::kTimesUnknown,
               "its times are not known yet: a first run without compression measures them");
  std::string unknown;
  auto beside = BesideOf(question, &unknown);
  if (!beside) return Off(PlainReason::kTimesUnknown, unknown);
  gains::ShrinkJob own = JobOf(gang);
  if (beside->jobs.empty()) *beside = {{own}, "a job like itself"};
  if (question.profile != nullptr) own.input_s = std::min(question.profile->input_s, own.exposed_s);
  own.exposed_s -= own.input_s;
  const int count = static_cast<int>(nodes.size());
  const Sent sent = SentBy(question.profile, gang.gpus_per_pod);
  const gains::ShrinkCase shrink{
      .own = own,
      .others = beside->jobs,
      .nodes = count,
      .part = sent.part,
      .codec_s = gains::CodecSecondsByLevel(sent.elements, count, std::max(1, gang.gpus() / count),
                                            SlowestMemory(question))};
  const gains::ShrinkGain gain = gains::GainOfShrink(shrink);
  std::string why = WhyOf(gain, shrink, beside->names);
  if (gain.why_not) return Off(ReasonOf(*gain.why_not), std::move(why));
  return {{.level = gain.level == ShrinkTo::kBf16 ? ShrinkLevel::kBf16 : ShrinkLevel::kQ8}, std::move(why)};
}

}  // namespace crossover::extender
