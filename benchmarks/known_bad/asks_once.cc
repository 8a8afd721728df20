// The fault: a client that has lost its arbiter does not look for another one.
#include "sidecar/arbiter_client/connection.h"

using crossover::arbiter_client::Connection;

extern "C" {

bool __real__ZN9crossover14arbiter_client10Connection7ConnectEPKc(Connection* connection, const char* path);

bool __wrap__ZN9crossover14arbiter_client10Connection7ConnectEPKc(Connection* connection, const char* path) {
  static bool connected = false;
  return !connected &&
         (connected = __real__ZN9crossover14arbiter_client10Connection7ConnectEPKc(connection, path));
}

}  // extern "C"
