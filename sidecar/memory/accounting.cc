#include "sidecar/memory/accounting.h"

#include <algorithm>

namespace crossover::memory {
namespace {

constinit Accounting the_ledger;

// Each reservation leaves room for this many records: more than there are threads that allocate at the same
// time. Each of them adds one record after its reservation.
constexpr std::size_t kRoom = 256;
// Mappings lie at multiples of this many bytes on every GPU.
constexpr std::uint64_t kLeastMapping = 65536;

// Returns the key of a handle. A handle may be any number, also 0, but a key must not be 0.
std::uint64_t KeyOfHandle(std::uint64_t handle) { return handle + 1; }

}  // namespace

Accounting& TheAccounting() { return the_ledger; }

void Accounting::SetLimit(std::uint64_t bytes) {
  const base::Locked locked(mutex_);
  limit_ = bytes;
}

void Accounting::LowerLimit(std::uint64_t bytes) {
  const base::Locked locked(mutex_);
  if (bytes != 0 && (limit_ == 0 || bytes < limit_)) limit_ = bytes;
}

std::uint64_t Accounting::limit() const {
  const base::Locked locked(mutex_);
  return limit_;
}

bool Accounting::Reserve(std::int32_t device, std::uint64_t bytes, bool* counted) {
  if (counted != nullptr) *counted = false;
  if (!Counted(device)) return true;
  const base::Locked locked(mutex_);
  Device& d = device_[device];
  const bool fits = limit_ == 0 || (bytes <= limit_ && d.used <= limit_ - bytes);
  if (!fits || !addresses_.MakeRoom(kRoom) || !handles_.MakeRoom(kRoom) || !allocations_.MakeRoom(kRoom)) {
    if (limit_ == 0) return true;
    ++refused_;
    return false;
  }
  if (counted != nullptr) *counted = true;
  d.used += bytes;
  d.peak = std::max(d.peak, d.used);
  return true;
}

void Accounting::Return(std::int32_t device, std::uint64_t bytes) {
  const base::Locked locked(mutex_);
  ReturnLocked(device, bytes);
}

void Accounting::ReturnLocked(std::int32_t device, std::uint64_t bytes) {
  if (Counted(device)) device_[device].used -= std::min(device_[device].used, bytes);
}

void Accounting::Keep(std::uint64_t address, std::int32_t device, std::uint64_t bytes,
                      std::uint64_t context) {
  if (address == 0 || !Counted(device)) return;
  const base::Locked locked(mutex_);
  addresses_.Put({.key = address, .bytes = bytes, .context = context, .device = device});
}

bool Accounting::Forget(std::uint64_t address, Record* record) {
  if (address == 0) return false;
  const base::Locked locked(mutex_);
  return addresses_.Remove(address, record);
}

void Accounting::Create(std::uint64_t handle, std::int32_t device, std::uint64_t bytes) {
  if (!Counted(device)) return;
  const base::Locked locked(mutex_);
  const std::uint64_t allocation = ++last_allocation_;
  allocations_.Put({.key = allocation, .bytes = bytes, .device = device, .handles = 1});
  handles_.Put({.key = KeyOfHandle(handle), .allocation = allocation, .device = device});
}

// The handle may be a new one: while a mapping keeps released memory alive, the driver may return that memory
// under another handle. The mapping at `address` then tells which memory it is.
void Accounting::Retain(std::uint64_t handle, std::uint64_t address) {
  const base::Locked locked(mutex_);
  const Record* known = handles_.Find(KeyOfHandle(handle));
  const std::uint64_t allocation = known != nullptr ? known->allocation : AllocationAt(address);
  Record* const found = allocations_.Find(allocation);
  if (found == nullptr) return;
  const Record record = {.key = KeyOfHandle(handle), .allocation = allocation, .device = found->device};
  if (handles_.Put(record)) ++found->handles;
}

void Accounting::Release(std::uint64_t handle) {
  const base::Locked locked(mutex_);
  const std::uint64_t key = KeyOfHandle(handle);
  const Record* known = handles_.Find(key);
  Record* const found = known == nullptr ? nullptr : allocations_.Find(known->allocation);
  if (found == nullptr) return;
  const std::uint64_t allocation = found->key;
  Record removed;
  if (--found->handles == 0) handles_.Remove(key, &removed);
  EndIfUnused(allocation);
}

bool Accounting::ReserveMapping() {
  const base::Locked locked(mutex_);
  return mappings_.MakeRoom(kRoom) || limit_ == 0;
}

void Accounting::Map(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle) {
  if (address == 0) return;
  const base::Locked locked(mutex_);
  const Record* known = handles_.Find(KeyOfHandle(handle));
  const std::uint64_t allocation = known == nullptr ? 0 : known->allocation;  // 0: memory of another process
  Record* const found = allocations_.Find(allocation);
  if (mappings_.Put({.key = address, .bytes = bytes, .allocation = allocation}) && found != nullptr)
    ++found->mappings;
}

// The range may contain several mappings, each of them as a whole.
void Accounting::Unmap(std::uint64_t address, std::uint64_t bytes) {
  const base::Locked locked(mutex_);
  for (std::uint64_t at = address; at - address < bytes;) {
    Record mapping;
    if (at == 0 || !mappings_.Remove(at, &mapping)) {
      at += kLeastMapping;
      continue;
    }
    at += std::max(mapping.bytes, kLeastMapping);
    if (Record* const found = allocations_.Find(mapping.allocation)) {
      --found->mappings;
      EndIfUnused(mapping.allocation);
    }
  }
}

void Accounting::KeepPool(std::uint64_t pool, std::int32_t device) {
  if (pool == 0) return;
  const base::Locked locked(mutex_);
  pools_.Put({.key = pool, .device = device});
}

void Accounting::ForgetPool(std::uint64_t pool) {
  const base::Locked locked(mutex_);
  Record removed;
  pools_.Remove(pool, &removed);
}

bool Accounting::FindPool(std::uint64_t pool, std::int32_t* device) {
  const base::Locked locked(mutex_);
  const Record* known = pools_.Find(pool);
  if (known == nullptr) return false;
  *device = known->device;
  return true;
}

std::uint64_t Accounting::AllocationAt(std::uint64_t address) {
  const Record* mapping = mappings_.Containing(address);
  return mapping == nullptr ? 0 : mapping->allocation;
}

void Accounting::EndIfUnused(std::uint64_t allocation) {
  const Record* found = allocations_.Find(allocation);
  if (found == nullptr || found->handles != 0 || found->mappings != 0) return;
  Record removed;
  allocations_.Remove(allocation, &removed);
  ReturnLocked(removed.device, removed.bytes);
}

void Accounting::Reset(std::int32_t device) {
  if (!Counted(device)) return;
  const base::Locked locked(mutex_);
  addresses_.RemoveAll([device](const Record& record) { return record.device == device; },
                       [this](const Record& record) { ReturnLocked(record); });
}

void Accounting::End(std::uint64_t context) {
  if (context == 0) return;
  const base::Locked locked(mutex_);
  addresses_.RemoveAll([context](const Record& record) { return record.context == context; },
                       [this](const Record& record) { ReturnLocked(record); });
}

std::uint64_t Accounting::used(std::int32_t device) const {
  if (!Counted(device)) return 0;
  const base::Locked locked(mutex_);
  return device_[device].used;
}

std::uint64_t Accounting::used_everywhere() const {
  const base::Locked locked(mutex_);
  std::uint64_t used = 0;
  for (const Device& device : device_) used += device.used;
  return used;
}

std::uint64_t Accounting::peak(std::int32_t device) const {
  if (!Counted(device)) return 0;
  const base::Locked locked(mutex_);
  return device_[device].peak;
}

std::uint64_t Accounting::refused() const {
  const base::Locked locked(mutex_);
  return refused_;
}

}  // namespace crossover::memory
