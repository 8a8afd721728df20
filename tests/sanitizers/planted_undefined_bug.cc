// Overflows a signed integer; exits 0 where nothing stops it.
#include <limits>

int main() {
  volatile int value = std::numeric_limits<int>::max();
  value = value + 1;
  return 0;
}
