#include "deviceplugin/reductions/plain_notices.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "common/base/names.h"
#include "common/base/plain_reason.h"
#include "common/base/shrink_choice.h"
#include "common/base/shrink_level.h"

namespace crossover::deviceplugin {
namespace {

using base::PlainReason;

const char* SpanInWords(std::uint32_t span) {
  if (span == CROSSOVER_SPAN_ONE_NODE) return " on one node";
  return span == CROSSOVER_SPAN_SEVERAL_NODES ? " on several nodes" : "";
}

// Returns whether the reason is no news to the owner of the pod.
bool IsKnown(std::uint32_t asked, PlainReason reason) {
  const bool is_auto = asked == static_cast<std::uint32_t>(base::ShrinkLevel::kAuto);
  return reason == PlainReason::kRefusedBefore || (is_auto && base::IsChoice(reason));
}

std::string NoteOf(const crossover_reductions& told, PlainReason reason) {
  const base::PlainReasonText& text = base::TextOf(reason);
  const std::string asked = base::NameOfShrinkLevel(told.asked);
  std::string note = std::string(base::kShrinkAnnotation) + ": expected " +
                     (asked == base::kOtherShrinkLevel ? "another level" : asked) + ", got plain reductions";
  if (base::PlainReasonOf(told.reason) == reason && told.ranks != 0)
    note += " of " + std::to_string(told.ranks) + " ranks" + SpanInWords(told.span);
  note += std::string(": ") + text.words + text.advice;
  const std::uint64_t narrowed =
      std::accumulate(std::begin(told.narrowed), std::end(told.narrowed), std::uint64_t{0});
  if (narrowed != 0) note += " (communicators that are compressed: " + std::to_string(narrowed) + ")";
  return note;
}

}  // namespace

std::vector<kube::Event> PlainNotices::Look(const std::vector<ReductionsView>& views,
                                            const std::vector<Pod>& pods) {
  std::erase_if(told_, [&pods](const auto& one) {
    return std::none_of(pods.begin(), pods.end(), [&](const Pod& pod) { return pod.uid == one.first; });
  });
  std::vector<kube::Event> events;
  for (const ReductionsView& view : views) {
    const arbiter::Member& member = *view.member;
    if (member.pod_uid.empty()) continue;
    for (std::uint32_t number = 0; number < std::size(view.reductions->plain); ++number) {
      const PlainReason reason = base::PlainReasonOf(number);
      if (view.reductions->plain[number] == 0 || IsKnown(view.reductions->asked, reason)) continue;
      if (!told_.emplace(member.pod_uid, static_cast<std::uint32_t>(reason)).second) continue;
      events.push_back({.regarding = {"Pod", member.name_space, member.pod, member.pod_uid},
                        .reason = "ReductionsPlain",
                        .action = "Reduce",
                        .note = NoteOf(*view.reductions, reason)});
    }
  }
  return events;
}

}  // namespace crossover::deviceplugin
