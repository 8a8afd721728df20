// The fault: a client that has lost its arbiter does not look for another one.
#include "sidecar/link/connection.h"

using crossover::link::Connection;

extern "C" {

bool __real__ZN9crossover4link10Connection7ConnectEPKc(Connection* connection, const char* path);

bool __wrap__ZN9crossover4link10Connection7ConnectEPKc(Connection* connection, const char* path) {
  static bool connected = false;
  return !connected && (connected = __real__ZN9crossover4link10Connection7ConnectEPKc(connection, path));
}

}  // extern "C"
