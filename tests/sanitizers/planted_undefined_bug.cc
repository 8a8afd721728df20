// Overflows a signed integer. Exits with 0 if no sanitizer stops it.
#include <limits>

int main() {
  volatile int value = std::numeric_limits<int>::max();
  value = value + 1;
  return 0;
}
