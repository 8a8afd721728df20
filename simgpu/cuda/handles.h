// Keeps the objects behind opaque handles. A handle is the object's address; it is valid from Add() to
// Remove(). A lookup of any other value returns null and never crashes. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "simgpu/cuda/unload.h"

namespace simgpu {

template <typename T>
class HandleTable {
 public:
  T* Add(std::shared_ptr<T> object) {
    const std::unique_lock lock(mutex_);
    T* handle = object.get();
    objects_[handle] = std::move(object);
    return handle;
  }
  std::shared_ptr<T> Find(const void* handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<T> Remove(const void* handle) {
    const std::unique_lock lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<T>> objects_;
};

// Returns the table of the objects of one type. There is one for the whole process. It is never destroyed,
// because threads of the application may still run after main().
template <typename T>
HandleTable<T>& Handles() {
  RefuseAfterUnload();
  static auto* table = new HandleTable<T>;
  return *table;
}

}  // namespace simgpu
