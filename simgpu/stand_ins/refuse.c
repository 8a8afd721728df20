#include "simgpu/stand_ins/refuse.h"

#include <stdio.h>
#include <unistd.h>

void simgpu_refuse(const char* library, const char* name, const char* reason) {
  (void)fprintf(stderr, "simgpu %s [%d] refused %s: %s\n", library, (int)getpid(), name, reason);
}
