// Holds a value in the room of a pointer.
#pragma once

#include <memory>
#include <utility>

namespace crossover::base {

// A Boxed is a value that most objects of many do not have. It takes the room of a pointer while it is T(),
// and copies and compares as T does.
template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(T value) { Edit() = std::move(value); }  // NOLINT(google-explicit-constructor): it stands for a T
  Boxed(const Boxed& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    if (this != &other) value_ = other.value_ ? std::make_unique<T>(*other.value_) : nullptr;
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  const T& operator*() const {
    static const T none{};
    return value_ ? *value_ : none;
  }
  const T* operator->() const { return &**this; }
  // Returns the value, to be changed.
  T& Edit() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }
  // Makes it T() again, and gives its memory back.
  void Reset() { value_.reset(); }

  friend bool operator==(const Boxed& a, const Boxed& b) { return *a == *b; }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace crossover::base
