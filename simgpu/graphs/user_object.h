// Declares objects of a program that graphs keep: the last reference calls the program's function.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "simgpu/cuda/api.h"

namespace simgpu {

// A UserObject counts the references of the program and of graphs together. Thread-safe.
class UserObject {
 public:
  UserObject(void* object, CUhostFn destroy, unsigned references);

  // Adds references. Requires that there is one.
  void Retain(unsigned count);
  // Drops references, and calls destroy(object) on the calling thread with the last. Returns false, and drops
  // none, if there are fewer.
  bool Release(unsigned count);

 private:
  std::mutex mutex_;
  std::uint64_t references_;
  void* const object_;
  const CUhostFn destroy_;
};

// A UserReference is what a graph and its instances hold of an object. The last of them drops the references.
class UserReference {
 public:
  UserReference(std::shared_ptr<UserObject> object, unsigned count)
      : object_(std::move(object)), count_(count) {}
  ~UserReference() { object_->Release(count_); }
  UserReference(const UserReference&) = delete;
  UserReference& operator=(const UserReference&) = delete;

  const std::shared_ptr<UserObject>& object() const { return object_; }
  unsigned count() const { return count_; }

 private:
  const std::shared_ptr<UserObject> object_;
  const unsigned count_;
};

}  // namespace simgpu
