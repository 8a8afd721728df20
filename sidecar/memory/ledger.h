// Counts what this process has of each GPU's memory, and knows how much it may have.
//
// The ledger counts the bytes that the user asked for. It does not count what a driver adds by rounding up,
// nor what a context takes by itself. Memory that another process exported counts in that process. Room is
// reserved before the driver is asked, so threads that allocate at the same time never pass the limit
// together. Where the driver then refuses, the room is given back. Physical memory (cuMemCreate) counts
// until its last handle is released and its last mapping is gone.
//
// Thread-safe, with one lock that is held for a table look-up. Constant-initialised, never destroyed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"
#include "sidecar/memory/table.h"

namespace crossover::memory {

inline constexpr std::int32_t kMostDevices = 64;  // devices with higher numbers are not counted
inline constexpr std::int32_t kOnHost = -2;       // in place of a device: memory of the host

// A Record describes an address, a handle, a mapping or an allocation.
struct Record {
  std::uint64_t key = 0;  // 0: no record
  std::uint64_t bytes = 0;
  std::uint64_t allocation = 0;  // of a handle or a mapping: the key of its allocation
  std::uint64_t context = 0;     // of an address: the context that it ends with; 0: none
  std::int32_t device = 0;
  std::uint32_t handles = 0;   // of an allocation: number of references to its handle
  std::uint32_t mappings = 0;  // of an allocation: number of its mappings
};

// A Ledger is the account of one process.
class Ledger {
 public:
  constexpr Ledger() = default;

  // Sets the limit, in bytes of each GPU. 0 means no limit.
  void SetLimit(std::uint64_t bytes);
  // Sets the limit to `bytes` unless it is lower already. 0 changes nothing.
  void LowerLimit(std::uint64_t bytes);
  std::uint64_t limit() const;

  // Reserves `bytes` on `device`, before the driver is asked. Returns false, and reserves nothing, where
  // that would pass the limit. Where there is no memory to record an allocation in, returns false if there
  // is a limit. Without a limit it returns true, and sets `*counted` to false: then the caller records
  // nothing.
  bool Reserve(std::int32_t device, std::uint64_t bytes, bool* counted = nullptr);
  // Gives back `bytes` of `device`: the driver has refused or freed them.
  void Return(std::int32_t device, std::uint64_t bytes);

  // Records that reserved bytes now lie at `address`, or at that array handle. They end with `context`; 0
  // means with no context.
  void Keep(std::uint64_t address, std::int32_t device, std::uint64_t bytes, std::uint64_t context);
  // Removes the record of `address`, which is about to be freed and might be given out again at once. The
  // bytes count until Return() is called. Returns false where nothing at `address` is counted; else
  // `*record` is what was removed.
  bool Forget(std::uint64_t address, Record* record);

  // Records that `handle` now stands for reserved bytes of physical memory.
  void Create(std::uint64_t handle, std::int32_t device, std::uint64_t bytes);
  // Records that the driver has returned `handle` for the physical memory that is mapped at `address`.
  void Retain(std::uint64_t handle, std::uint64_t address);
  // Records that one reference to `handle` is released.
  void Release(std::uint64_t handle);
  // Makes room for the record of a mapping, before the driver is asked. Returns false where there is a limit
  // and no memory for the record.
  bool ReserveMapping();
  // Records that the physical memory of `handle` is mapped at `address`.
  void Map(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle);
  // Removes all mappings in the range.
  void Unmap(std::uint64_t address, std::uint64_t bytes);

  // Records that the memory of `pool` is on `device`, or kOnHost. Where there is no memory for the record,
  // the pool stays unknown.
  void KeepPool(std::uint64_t pool, std::int32_t device);
  void ForgetPool(std::uint64_t pool);
  // Finds where the memory of `pool` is. Returns false where that is unknown.
  bool FindPool(std::uint64_t pool, std::int32_t* device);

  // Gives back all that was recorded by address on `device`: its primary context has ended.
  void Reset(std::int32_t device);
  // Gives back all that was recorded with `context`: this context has ended.
  void End(std::uint64_t context);

  // These return bytes, but for refused().
  std::uint64_t used(std::int32_t device) const;
  std::uint64_t used_everywhere() const;
  std::uint64_t peak(std::int32_t device) const;
  std::uint64_t refused() const;  // number of refused reservations

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
  Table<Record> addresses_, handles_, mappings_, allocations_, pools_;
};

// Returns the ledger of this process.
Ledger& TheLedger();

}  // namespace crossover::memory
