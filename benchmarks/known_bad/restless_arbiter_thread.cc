// The fault: the arbiter thread checks its turn 10,000 times a second, even if nothing has changed.
#include <algorithm>

#include "sidecar/arbiter_client/connection.h"

using crossover::arbiter_client::Connection;
using crossover::arbiter_client::Received;

extern "C" {

bool __real__ZN9crossover14arbiter_client10Connection8AwaitEndEiPNS0_8ReceivedE(Connection* connection,
                                                                                int timeout_us,
                                                                                Received* received);

bool __wrap__ZN9crossover14arbiter_client10Connection8AwaitEndEiPNS0_8ReceivedE(Connection* connection,
                                                                                int timeout_us,
                                                                                Received* received) {
  return __real__ZN9crossover14arbiter_client10Connection8AwaitEndEiPNS0_8ReceivedE(
      connection, std::min(timeout_us, 100), received);
}

}  // extern "C"
