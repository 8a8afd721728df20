// Counts the GPU memory that this process has allocated, and holds its limit.
//
// The accounting counts the bytes that the user asked for. It does not count what a driver adds by rounding
// up, nor what a context takes by itself. Memory that another process exported counts in that process. The
// hooks reserve memory before they ask the driver, so threads that allocate at the same time never pass the
// limit together. If the driver then refuses, they return it. Physical memory (cuMemCreate) counts until its
// last handle is released and its last mapping is gone.
//
//   cuMemAlloc, arrays     address --> bytes, device, context
//   cuMemCreate, cuMemMap  handle  --> allocation: bytes, device, count of handles and of mappings
//                          mapping --^
//   pools                  pool    --> device
//
// Thread-safe, with one lock that is held for a table look-up. Constant-initialised, never destroyed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"
#include "sidecar/memory/table.h"

namespace crossover::memory {

inline constexpr std::int32_t kMostDevices = 64;  // the accounting does not count devices from this number on
inline constexpr std::int32_t kOnHost = -2;       // in place of a device: memory of the host

// A Record describes an address, a handle, a mapping, an allocation or a pool.
struct Record {
  std::uint64_t key = 0;  // 0: no record
  std::uint64_t bytes = 0;
  std::uint64_t allocation = 0;  // of a handle or a mapping: the key of its allocation
  std::uint64_t context = 0;     // of an address: the context that it ends with; 0: none
  std::int32_t device = 0;
  std::uint32_t handles = 0;   // of an allocation: number of references to its handles
  std::uint32_t mappings = 0;  // of an allocation: number of its mappings
};

// An Accounting counts for one process.
class Accounting {
 public:
  constexpr Accounting() = default;

  // Sets the limit, in bytes of each GPU. 0 means no limit.
  void SetLimit(std::uint64_t bytes);
  // Sets the limit to `bytes` unless it is lower already. 0 changes nothing.
  void LowerLimit(std::uint64_t bytes);
  std::uint64_t limit() const;

  // Reserves `bytes` on `device`, before the caller asks the driver. Returns false, and reserves nothing, if
  // that would pass the limit, or if there is a limit and no memory for the record. Sets `*counted` to
  // whether it has reserved the bytes. If it returns true without that (a device that is not counted, or no
  // limit and no memory for the record), the caller must record nothing.
  bool Reserve(std::int32_t device, std::uint64_t bytes, bool* counted = nullptr);
  // Returns `bytes` of `device` to the accounting: the driver has refused or freed them.
  void Return(std::int32_t device, std::uint64_t bytes);

  // Records that reserved bytes now lie at `address`, which may also be the handle of an array. They end with
  // `context`, or with no context if it is 0.
  void Keep(std::uint64_t address, std::int32_t device, std::uint64_t bytes, std::uint64_t context);
  // Removes the record of `address` and copies it to `*record`. REQUIRES: called before the driver frees the
  // address, which it might give out again at once. The bytes count until the caller calls Return(). Returns
  // false if the accounting has no record of `address`.
  bool Forget(std::uint64_t address, Record* record);

  // Records that `handle` now stands for reserved bytes of physical memory.
  void Create(std::uint64_t handle, std::int32_t device, std::uint64_t bytes);
  // Records that the driver has returned `handle` for the physical memory that is mapped at `address`.
  void Retain(std::uint64_t handle, std::uint64_t address);
  // Records that one reference to `handle` is released.
  void Release(std::uint64_t handle);
  // Makes room for the record of a mapping, before the caller asks the driver. Returns false if there is a
  // limit and no memory for the record.
  bool ReserveMapping();
  // Records that the physical memory of `handle` is mapped at `address`.
  void Map(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle);
  // Removes all mappings in the range.
  void Unmap(std::uint64_t address, std::uint64_t bytes);

  // Records that the memory of `pool` is on `device`, or kOnHost. If there is no memory for the record, the
  // pool stays unknown.
  void KeepPool(std::uint64_t pool, std::int32_t device);
  void ForgetPool(std::uint64_t pool);
  // Finds the device of the memory of `pool`, or kOnHost. Returns false if it is unknown.
  bool FindPool(std::uint64_t pool, std::int32_t* device);

  // Returns all that was recorded by address on `device`: its primary context has ended.
  void Reset(std::int32_t device);
  // Returns all that was recorded with `context`: this context has ended.
  void End(std::uint64_t context);

  // These functions return the bytes that count now, and the most that have counted on a device so far.
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

// Returns the accounting of this process.
Accounting& TheAccounting();

}  // namespace crossover::memory
