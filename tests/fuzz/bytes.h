// Reads an input as numbers, one after the other. Behind its end there are zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace crossover::fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  bool empty() const { return left_ == 0; }
  template <class T>
  T Next() {
    T value{};
    Take(&value, sizeof value);
    return value;
  }
  std::uint8_t NextByte() { return Next<std::uint8_t>(); }
  // Copies as many of `size` bytes as there are.
  void Take(void* to, std::size_t size) {
    if (size > left_) size = left_;
    if (size == 0) return;
    std::memcpy(to, data_, size);
    data_ += size;
    left_ -= size;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

}  // namespace crossover::fuzz
