// What this process has of each GPU's memory, and how much it may have.
//
// Counted are the bytes that the user asked for: what a driver rounds them up to, and what a context takes by
// itself, is not in it. Memory that another process exported is its exporter's. Room is reserved before the
// driver is asked, so that threads that allocate at once never pass the limit together; where the driver then
// refuses, it is given back. Physical memory (cuMemCreate) lives until its last handle is released and its
// last mapping is gone.
//
// Thread-safe, one lock, held for a table look-up. Constant-initialised, never destroyed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"
#include "sidecar/memory/table.h"

namespace crossover::memory {

inline constexpr std::int32_t kMostDevices = 64;  // what is beyond is not counted

class Ledger {
 public:
  constexpr Ledger() = default;

  // Bytes of each GPU; 0: no limit.
  void SetLimit(std::uint64_t bytes);
  std::uint64_t limit() const;

  // Before the driver is asked. False: over the limit, and nothing has changed. Where there is no memory to
  // note it in, it is over any limit; without one it is let pass, and `counted` says that nothing may be kept
  // of it.
  bool Reserve(std::int32_t device, std::uint64_t bytes, bool* counted = nullptr);
  // It refused, or has freed it.
  void Return(std::int32_t device, std::uint64_t bytes);

  // What was reserved lies at this address (or array handle) now; it goes with `context`, 0: with none.
  void Keep(std::uint64_t address, std::int32_t device, std::uint64_t bytes, std::uint64_t context);
  // The address is about to be freed, and might be given out again at once: what was there is no longer known
  // by it, but counted still. False: nothing that is counted.
  bool Forget(std::uint64_t address, Record* record);

  // Physical memory.
  void Create(std::uint64_t handle, std::int32_t device, std::uint64_t bytes);  // of what was reserved
  void Retain(std::uint64_t handle,
              std::uint64_t address);  // the driver answered `handle` for what is mapped there
  void Release(std::uint64_t handle);
  bool ReserveMapping();  // before the driver is asked; false: there is a limit, and no memory to note it
  void Map(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle);
  void Unmap(std::uint64_t address, std::uint64_t bytes);

  // All that a device had is gone with its primary context; and all that another context had with that.
  void Reset(std::int32_t device);
  void End(std::uint64_t context);

  std::uint64_t used(std::int32_t device) const;
  std::uint64_t used_everywhere() const;
  std::uint64_t peak(std::int32_t device) const;
  std::uint64_t refused() const;  // reservations

 private:
  struct Device {
    std::uint64_t used = 0, peak = 0;
  };
  static bool Counted(std::int32_t device) { return device >= 0 && device < kMostDevices; }
  void ReturnLocked(std::int32_t device, std::uint64_t bytes);
  void ReturnLocked(const Record& record) { ReturnLocked(record.device, record.bytes); }
  std::uint64_t AllocationAt(std::uint64_t address);
  void EndIfUnused(std::uint64_t allocation);

  mutable base::Mutex mutex_;
  std::uint64_t limit_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t last_allocation_ = 0;
  Device device_[kMostDevices];
  Table addresses_, handles_, mappings_, allocations_;
};

// The process's own.
Ledger& TheLedger();

}  // namespace crossover::memory
