// Two threads write one plain int without order. Exits with 0 if no sanitizer stops it.
#include <thread>

namespace {
int shared_counter = 0;

void Count() {
  for (int i = 0; i < 100000; ++i) {
    ++shared_counter;
    asm volatile("" ::: "memory");  // keeps every store
  }
}
}  // namespace

int main() {
  std::thread other(Count);
  Count();
  other.join();
  return 0;
}
