#include "shrink/library/advice.h"

#include <stdio.h>

#include "shrink/library/decimal.h"
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

void Say(const Kind& kind, std::uint64_t calls, const Errors& errors, const char* no_error) {
  char error[256];
  if (no_error != nullptr) {
    std::snprintf(error, sizeof error, "its error is not known: %s", no_error);
  } else {
    std::snprintf(error, sizeof error,
                  "the relative squared error of %llu samples is %s with bf16 and %s with q8",
                  static_cast<unsigned long long>(errors.samples),
                  InWords(RelativeError(errors.sums.bf16, errors.sums.squares)).text,
                  InWords(RelativeError(errors.sums.q8, errors.sums.squares)).text);
  }
  char left_out[96] = "";
  const std::uint64_t buckets = errors.samples * BucketsOf(kind.call.count);
  if (errors.sums.not_finite > 0)
    std::snprintf(left_out, sizeof left_out, ", without %llu of %llu buckets, which are not finite",
                  static_cast<unsigned long long>(errors.sums.not_finite),
                  static_cast<unsigned long long>(buckets));
  log::Write(log::Level::kWarn,
             "shrink: communicator %u: %llu calls of %s, %zu float32: would be narrowed to half; %s%s",
             kind.communicator, static_cast<unsigned long long>(calls), Words(kind.call.function),
             kind.call.count, error, left_out);
}

void WriteErrors(std::FILE* file, const Errors& errors, const char* no_error) {
  std::fprintf(file, ", \"samples\": %llu, \"samples_unfinished\": %llu",
               static_cast<unsigned long long>(errors.samples),
               static_cast<unsigned long long>(errors.unfinished));
  if (no_error != nullptr) {
    std::fprintf(file, ", \"no_error\": \"");
    for (const char* c = no_error; *c != '\0'; ++c) std::fputc(*c == '"' || *c == '\\' ? '?' : *c, file);
    std::fprintf(file, "\"");
    return;
  }
  std::fprintf(file, ", \"bf16_error\": %s, \"q8_error\": %s, \"buckets_not_finite\": %llu",
               InJson(RelativeError(errors.sums.bf16, errors.sums.squares)).text,
               InJson(RelativeError(errors.sums.q8, errors.sums.squares)).text,
               static_cast<unsigned long long>(errors.sums.not_finite));
}

// Returns why a kind has no error, or null if it has one. A reason that something is refused holds for all
// kinds.
const char* WhyNoError(const Kind& kind, const Errors& errors, const vote::Reason& refused) {
  if (errors.samples > 0)
    return errors.sums.not_finite < errors.samples * BucketsOf(kind.call.count)
               ? nullptr
               : "expected finite values, got none";
  if (errors.unfinished > 0) return "its first sample was not done at the end";
  if (!refused.empty()) return refused.text;
  return "expected its calls on the first GPU of the process, and at most 64 kinds of calls, got others";
}

}  // namespace

Noted Advice::Note(const Kind& kind) {
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
    return {&row.account, row.calls.fetch_add(1, std::memory_order_relaxed) + 1};
  }
  others_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

void Advice::Write(const char* path, const vote::Reason& refused) {
  std::FILE* file = nullptr;
  const char* before = "";
  for (Row& row : rows_) {
    if (row.state.load(std::memory_order_acquire) != State::kThere) continue;
    const std::uint64_t calls = row.calls.load(std::memory_order_relaxed);
    const bool would_be = row.kind.why == WhyPlain::kNone;
    const Errors errors = would_be ? row.account.Read() : Errors{};
    const char* no_error = WhyNoError(row.kind, errors, refused);
    if (would_be) Say(row.kind, calls, errors, no_error);
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
        "\"calls\": %llu, \"verdict\": \"%s\"",
        *before == '\0' ? "{\"kinds\": [\n" : before, row.kind.communicator, Words(row.kind.call.function),
        row.kind.call.type, row.kind.call.op, row.kind.call.count, static_cast<unsigned long long>(calls),
        Words(row.kind.why));
    if (would_be) WriteErrors(file, errors, no_error);
    std::fprintf(file, "}");
    before = ",\n";
  }
  if (file == nullptr) return;
  std::fprintf(file, "\n], \"calls_of_other_kinds\": %llu}\n",
               static_cast<unsigned long long>(others_.load(std::memory_order_relaxed)));
  std::fclose(file);
}

}  // namespace crossover::shrink::library
