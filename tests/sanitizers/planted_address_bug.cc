// Reads freed memory. Exits with 0 if no sanitizer stops it.
#include <memory>

int main() {
  auto owner = std::make_unique<volatile int>(7);
  volatile int* dangling = owner.get();
  owner.reset();
  static_cast<void>(*dangling);
  return 0;
}
