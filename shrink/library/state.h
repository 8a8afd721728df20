// Has what library.cc and creation.cc share: the state of the process and of the open group of a thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shrink/library/advice.h"
#include "shrink/library/communicators.h"
#include "shrink/library/error_kernel.h"
#include "shrink/library/report.h"
#include "shrink/library/settings.h"
#include "sidecar/log/log.h"

namespace crossover::shrink::library {

inline constinit Settings settings;                       // valid once IsOn() has returned
inline constinit std::atomic<std::uint32_t> narrowed{0};  // communicators
inline constinit std::atomic<std::uint32_t> warned{0};    // a bit for each Warning
inline constinit Communicators communicators;
inline constinit Advice advice;
inline constinit ErrorKernel error_kernel;  // of the dry run
inline constinit Report report{&FindReporter};

// A narrowed call of the open group waits there for the end of it, and so does a sample of the dry run.
struct Waiting {
  Communicator* communicator;  // null: it is a sample
  Step step;
  Sample sample;
};
// A communicator that a split makes inside a group exists from the end of the group on.
struct Expected {
  Communicator* parent = nullptr;
  NcclComm* child = nullptr;
};
struct Group {
  int depth = 0;
  std::size_t calls = 0;
  std::size_t room = 0;
  Waiting* waiting = nullptr;  // `calls` of `room`; stays with the thread
  std::size_t splits = 0;
  Expected expected[32]{};
};
inline thread_local constinit Group group;

// Makes room for one more call that waits. Returns false if there is no memory. It is in library.cc.
bool MakeRoomInGroup();

// There is one line for each way in which a job gets less than its owner asks for.
enum class Warning : std::uint8_t { kPlain, kFailed, kCapture, kSplit, kTail, kTooLarge, kMeasure, kKinds };

// Says a line the first time that there is reason for it.
inline void Warn(Warning warning, const char* what, const char* why) {
  const std::uint32_t bit = 1u << static_cast<std::uint32_t>(warning);
  if ((warned.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  log::Write(log::Level::kWarn, "shrink: %s: %s", what, why);
}

// Makes the communicators known that the open group has split, once NCCL has ended the group with `result`.
// Returns the result for the program. It is in creation.cc.
NcclResult EndSplits(NcclResult result);

}  // namespace crossover::shrink::library
