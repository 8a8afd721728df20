#include "deviceplugin/arbiter/tamper_detector.h"

#include <algorithm>
#include <cstdio>

namespace crossover::arbiter {
namespace {

constexpr turn::Time kLookPeriod = 5 * base::kNsPerMs;
constexpr turn::Time kWindow = base::kNsPerSecond;
constexpr int kTooOften = 3;

std::uint32_t Read(std::uint32_t& word) { return Atomic(word).load(std::memory_order_relaxed); }

std::uint32_t* WordsOf(const Page& page) { return reinterpret_cast<std::uint32_t*>(page.get()); }

// Calls `visit` for each word that keeps its first value forever.
template <class Visit>
void ForEachConstant(crossover_page& page, Visit visit) {
  for (std::uint32_t* word : {&page.magic, &page.version, &page.bytes, &page.clients}) visit(*word);
  for (std::uint32_t& word : page.reserved) visit(word);
  for (crossover_slot& slot : page.slot) {
    for (std::uint32_t& word : slot.reserved0) visit(word);
    for (std::uint32_t& word : slot.reserved1) visit(word);
    for (std::uint32_t& word : slot.reserved2) visit(word);
    for (std::uint32_t& word : slot.reserved3) visit(word);
  }
}

}  // namespace

TamperDetector::TamperDetector(const Page& page) : page_(page) {
  std::copy_n(WordsOf(page), kWords, expected_.begin());
}

std::size_t TamperDetector::IndexOf(const std::uint32_t& word) const {
  return static_cast<std::size_t>(&word - WordsOf(page_));
}

void TamperDetector::Reset(turn::SlotIndex slot) {
  seen_[slot] = {};
  crossover_slot& line = page_.slot(slot);
  for (std::uint32_t* word : {&line.mode, &line.generation, &line.slice_bits})
    expected_[IndexOf(*word)] = Read(*word);
  for (std::uint32_t& word : line.successor) expected_[IndexOf(word)] = Read(word);
  for (std::uint32_t& word : line.stretch_launches) expected_[IndexOf(word)] = Read(word);
}

void TamperDetector::Store(std::uint32_t& word, std::uint32_t value) {
  std::uint32_t& expected = expected_[IndexOf(word)];
  const std::uint32_t found = Read(word);
  if (found != expected) Suspect(word, found, expected);
  expected = value;
  if (found != value) Atomic(word).store(value);
}

void TamperDetector::Look(turn::SlotSet members, turn::Time now) {
  if (now - window_ >= kWindow) {
    window_ = now;
    went_back_ = 0;
  }
  for (const turn::SlotIndex slot : members) LookAtCounters(slot);
  if (now < next_look_) return;
  next_look_ = now + kLookPeriod;
  LookAtConstants();
}

void TamperDetector::LookAtCounters(turn::SlotIndex slot) {
  crossover_slot& line = page_.slot(slot);
  const std::array<std::uint32_t*, kCounters> words = {&line.ready, &line.hold, &line.rel};
  for (std::size_t i = 0; i < kCounters; ++i) {
    const std::uint32_t found = Read(*words[i]);
    if (!turn::AtOrPast(found, seen_[slot][i]) && ++went_back_ >= kTooOften)
      Suspect(*words[i], found, seen_[slot][i]);
    seen_[slot][i] = found;
  }
}

void TamperDetector::LookAtConstants() {
  ForEachConstant(*page_.get(), [this](std::uint32_t& word) {
    const std::uint32_t found = Read(word);
    if (found != expected_[IndexOf(word)]) Suspect(word, found, expected_[IndexOf(word)]);
  });
}

void TamperDetector::Suspect(const std::uint32_t& word, std::uint32_t found, std::uint32_t belongs) {
  if (!damaged()) evidence_ = {IndexOf(word), found, belongs};
}

std::string TamperDetector::evidence() const {
  char text[64];
  std::snprintf(text, sizeof text, "at byte %zu stands %#x where %#x belongs",
                evidence_.word * sizeof(std::uint32_t), evidence_.found, evidence_.belongs);
  return damaged() ? text : "";
}

}  // namespace crossover::arbiter
