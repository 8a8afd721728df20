#include "shrink/library/advice.h"

#include <stdio.h>

#include "sidecar/log/log.h"

namespace crossover::shrink::library {
namespace {

std::size_t HashOf(const Kind& kind) {
  std::size_t hash = kind.call.count * 31 + kind.communicator;
  hash = hash * 31 + static_cast<std::size_t>(kind.call.function);
  hash = hash * 31 + static_cast<std::size_t>(kind.call.type);
  hash = hash * 31 + static_cast<std::size_t>(kind.call.op);
  return hash * 31 + static_cast<std::size_t>(kind.why);
}

void Say(const Kind& kind, std::uint64_t calls) {
  if (kind.why != WhyPlain::kNone) return;
  log::Write(
      log::Level::kWarn, "shrink: communicator %u: %llu calls of %s, %zu float32: would be narrowed to half",
      kind.communicator, static_cast<unsigned long long>(calls), Words(kind.call.function), kind.call.count);
}

}  // namespace

void Advice::Note(const Kind& kind) {
  const std::size_t first = HashOf(kind);
  for (std::size_t i = 0; i < kMost; ++i) {
    Row& row = rows_[(first + i) % kMost];
    State state = row.state.load(std::memory_order_acquire);
    if (state == State::kFree && row.state.compare_exchange_strong(state, State::kBeingWritten)) {
      row.kind = kind;
      row.state.store(State::kThere, std::memory_order_release);
      state = State::kThere;
    }
    // A row that another thread writes just now is passed over. Such a kind may have two rows, as calls
    // of one communicator by two threads at once.
    if (state != State::kThere || !(row.kind == kind)) continue;
    row.calls.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  others_.fetch_add(1, std::memory_order_relaxed);
}

void Advice::Write(const char* path) const {
  std::FILE* file = nullptr;
  const char* before = "";
  for (const Row& row : rows_) {
    if (row.state.load(std::memory_order_acquire) != State::kThere) continue;
    const std::uint64_t calls = row.calls.load(std::memory_order_relaxed);
    Say(row.kind, calls);
    if (path == nullptr) continue;
    if (file == nullptr) file = std::fopen(path, "we");
    if (file == nullptr) {
      log::Write(log::Level::kWarn, "shrink: CROSSOVER_SHRINK_REPORT: expected a path to write to, got %s",
                 path);
      return;
    }
    std::fprintf(
        file,
        "%s{\"communicator\": %u, \"function\": \"%s\", \"type\": %d, \"operator\": %d, \"count\": %zu, "
        "\"calls\": %llu, \"verdict\": \"%s\"}",
        *before == '\0' ? "{\"kinds\": [\n" : before, row.kind.communicator, Words(row.kind.call.function),
        row.kind.call.type, row.kind.call.op, row.kind.call.count, static_cast<unsigned long long>(calls),
        Words(row.kind.why));
    before = ",\n";
  }
  if (file == nullptr) return;
  std::fprintf(file, "\n], \"calls_of_other_kinds\": %llu}\n",
               static_cast<unsigned long long>(others_.load(std::memory_order_relaxed)));
  std::fclose(file);
}

}  // namespace crossover::shrink::library
