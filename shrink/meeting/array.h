// Holds a number of values on the heap. It has no operator new, which would link the exceptions of C++ into
// the library: that would then need libpthread and libdl, which an image may lack.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace crossover::shrink::meeting {

template <class T>
class Array {
 public:
  Array() = default;
  ~Array() {
    for (std::size_t i = 0; i < size_; ++i) data_[i].~T();
    std::free(data_);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  // Makes `size` values. Returns false if there is no memory for them. REQUIRES: none were made before.
  bool Make(std::size_t size) {
    data_ = static_cast<T*>(std::calloc(size, sizeof(T)));
    if (data_ == nullptr) return false;
    for (; size_ < size; ++size_) new (data_ + size_) T{};
    return true;
  }

  T& operator[](std::size_t i) { return data_[i]; }
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace crossover::shrink::meeting
