// Lists the kinds of calls that a job makes, for the dry run, with the errors that its samples have found.
// Thread-safe: Note() takes no lock, allocates nothing and makes no system call.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shrink/library/eligible.h"
#include "shrink/library/error_account.h"
#include "shrink/vote/reason.h"

namespace crossover::shrink::library {

// A Kind is all calls of one communicator that are equal.
struct Kind {
  std::uint32_t communicator = 0;  // its number in the process, from 1; 0: not known
  Call call;
  WhyPlain why = WhyPlain::kNone;
  friend bool operator==(const Kind& a, const Kind& b) {
    return a.communicator == b.communicator && a.call.function == b.call.function &&
           a.call.type == b.call.type && a.call.op == b.call.op && a.call.count == b.call.count &&
           a.why == b.why;
  }
};

// A Noted is a call that was counted: the account of its kind, and the number of the call among those of its
// kind, from 1. The account is null if the list has no room for the kind.
struct Noted {
  ErrorAccount* account = nullptr;
  std::uint64_t call = 0;
};

class Advice {
 public:
  static constexpr std::size_t kMost = 1024;

  constexpr Advice() = default;

  // Counts a call. Where there are more kinds than the list holds, the others are counted together.
  Noted Note(const Kind& kind);

  // Writes the list as JSON to `path` (null: only to standard error), and a line for each kind that would be
  // narrowed to standard error. `refused` says why no samples can be taken, if that is so. Writes nothing if
  // there were no calls.
  void Write(const char* path, const vote::Reason& refused);

 private:
  enum class State : std::uint8_t { kFree, kBeingWritten, kThere };
  struct Row {
    std::atomic<State> state{State::kFree};
    Kind kind;
    std::atomic<std::uint64_t> calls{0};
    ErrorAccount account;
  };
  std::array<Row, kMost> rows_{};
  std::atomic<std::uint64_t> others_{0};
};

}  // namespace crossover::shrink::library
