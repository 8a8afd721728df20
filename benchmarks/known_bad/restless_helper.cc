// The fault: the helper thread checks its turn 10,000 times a second, even if nothing has changed.
#include <algorithm>

#include "sidecar/link/connection.h"

using crossover::link::Connection;

extern "C" {

bool __real__ZN9crossover4link10Connection8AwaitEndEi(Connection* connection, int timeout_us);

bool __wrap__ZN9crossover4link10Connection8AwaitEndEi(Connection* connection, int timeout_us) {
  return __real__ZN9crossover4link10Connection8AwaitEndEi(connection, std::min(timeout_us, 100));
}

}  // extern "C"
