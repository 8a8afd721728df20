#include "shrink/library/report.h"

#include <link.h>

#include "sidecar/hooks/elf.h"

namespace crossover::shrink::library {
namespace {

int Visit(dl_phdr_info* info, std::size_t, void* argument) {
  void* found = hooks::FindInObject(*info, kReporterName);
  *static_cast<Reporter*>(argument) = reinterpret_cast<Reporter>(found);
  return found != nullptr;
}

std::uint32_t NumberOf(base::ShrinkLevel level) {
  static_assert(static_cast<std::uint32_t>(base::ShrinkLevel::kAuto) < CROSSOVER_REDUCTION_LEVELS);
  return static_cast<std::uint32_t>(level);
}

}  // namespace

Reporter FindReporter() {
  Reporter found = nullptr;
  dl_iterate_phdr(&Visit, &found);
  return found;
}

void Report::Ask(base::ShrinkLevel level) {
  const base::Locked locked(mutex_);
  state_.asked = NumberOf(level);
}

void Report::Narrowed(base::ShrinkLevel level, Communication of) {
  const base::Locked locked(mutex_);
  ++state_.narrowed[NumberOf(level)];
  state_.ranks = of.ranks;
  state_.span = of.span;
  HandOver();
}

void Report::Ended(base::ShrinkLevel level) {
  const base::Locked locked(mutex_);
  --state_.narrowed[NumberOf(level)];
  HandOver();
}

void Report::Plain(base::PlainReason reason, Communication of) {
  static_assert(base::kPlainReasons <= CROSSOVER_PLAIN_REASONS_MAX);
  const base::Locked locked(mutex_);
  const auto number = static_cast<std::uint32_t>(reason);
  // Rank 0 has sent the reason, and its file may be newer than this one.
  ++state_.plain[number < CROSSOVER_PLAIN_REASONS_MAX ? number : 0];
  state_.reason = number;
  state_.ranks = of.ranks;
  state_.span = of.span;
  HandOver();
}

// Hands the state over with the lock held, so that no older state follows a newer one.
void Report::HandOver() {
  if (reporter_ == nullptr) reporter_ = find_();
  if (reporter_ != nullptr) reporter_(&state_);
}

}  // namespace crossover::shrink::library
