// Copies single words between device memory and this process, on a stream of the library's own, without ever
// waiting: a copy may stand behind a wait of the user's in the same hardware channel, for good.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"
#include "sidecar/gates/driver.h"

namespace crossover::ipc {

// A Copies owns that stream. It is thread-safe. REQUIRES of each call but Enter() and End(): the context of
// SetUp() is current.
class Copies {
 public:
  static constexpr std::size_t kMostWords = 4;

  enum class Progress : std::uint8_t { kDone, kBusy, kFailed };

  constexpr Copies() = default;

  // Makes the stream and the memory of the host, at the first call that the driver does not refuse. Returns
  // the driver's error.
  CUresult SetUp(const gates::Driver* driver, CUcontext context);
  // Makes the context current on the calling thread, whose calls then break no capture of other threads.
  // REQUIRES: SetUp() has succeeded.
  void Enter();

  // Queues copies of `count` words from `addresses` to word(0) and those behind it. REQUIRES: `count` is at
  // most kMostWords; no copies to them are queued already.
  bool Read(const CUdeviceptr* addresses, std::size_t count);
  // Queues a copy of `value`, which is the same in all calls, to the word at `address`.
  bool Write(CUdeviceptr address, std::uint32_t value);
  // Returns how far all copies have come.
  Progress Ask();
  // REQUIRES: Ask() has returned kDone since Read().
  std::uint32_t word(std::size_t index) const { return words_[index]; }

  // Makes all later calls fail, without the driver: the context ends, or the process does. Waits for a call
  // in progress for a tenth of a second at most.
  void End();

 private:
  base::Mutex mutex_;
  std::atomic<bool> ended_{false};
  const gates::Driver* driver_ = nullptr;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  std::uint32_t* words_ =
      nullptr;  // in memory that the driver has pinned; the last one holds Write()'s value
};

}  // namespace crossover::ipc
