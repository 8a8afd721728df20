#include "sidecar/phase/calls.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace crossover::phase {

void Calls::Count(const Group& group, const Call& call, std::uint32_t period) {
  if (std::exchange(period_, period) != period) Forget();
  if (group.id != 0 && call.function != 0) {
    crossover_call* entry = Entry(&counted_, group, call);
    if (entry != nullptr) entry->bytes += call.bytes;
    if (entry == nullptr) counted_.full = true;
  }
  if (++counted_.counted % period != 0) return;
  const std::uint64_t periods = counted_.counted / period;
  if (periods >= kSure && std::has_single_bit(periods)) Report(periods);
}

// Returns the entry of such calls, a new one if there is none, or null if the table has no room.
crossover_call* Calls::Entry(Table* table, const Group& group, const Call& call) {
  for (std::size_t i = 0; i < table->size; ++i) {
    crossover_call& entry = table->calls[i];
    if (entry.communicator == group.id && entry.function == call.function && entry.peer == call.peer)
      return &entry;
  }
  if (table->size == kMost) return nullptr;
  crossover_call& entry = table->calls[table->size++];
  entry = {.communicator = group.id,
           .bytes = 0,
           .ranks = group.ranks,
           .rank = group.rank,
           .function = call.function,
           .peer = call.peer};
  return &entry;
}

void Calls::Report(std::uint64_t periods) {
  if (counted_.full) return;
  Table report = counted_;
  for (std::size_t i = 0; i < report.size; ++i) report.calls[i].bytes /= periods;
  if (!HasChanged(report)) return;
  report_ = report;
  sent_ = 0;
}

bool Calls::HasChanged(const Table& report) const {
  if (report.size != report_.size) return true;
  for (std::size_t i = 0; i < report.size; ++i) {
    const crossover_call& is = report.calls[i];
    const crossover_call& was = report_.calls[i];
    const bool same = is.communicator == was.communicator && is.function == was.function &&
                      is.peer == was.peer && is.rank == was.rank && is.ranks == was.ranks;
    const auto less = static_cast<double>(std::min(is.bytes, was.bytes));
    const auto more = static_cast<double>(std::max(is.bytes, was.bytes));
    if (!same || more - less > kNoise * more) return true;
  }
  return false;
}

bool Calls::NextMessage(crossover_calls* message) {
  if (sent_ >= report_.size) return false;
  const std::size_t count = std::min<std::size_t>(report_.size - sent_, CROSSOVER_CALLS_OF_MESSAGE);
  *message = {};
  message->first = static_cast<std::uint32_t>(sent_);
  message->total = static_cast<std::uint32_t>(report_.size);
  message->count = static_cast<std::uint32_t>(count);
  std::copy_n(report_.calls.begin() + static_cast<std::ptrdiff_t>(sent_), count, message->call);
  sent_ += count;
  return true;
}

}  // namespace crossover::phase
