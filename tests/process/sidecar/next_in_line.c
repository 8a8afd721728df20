/* Stands for another preloaded library. It finds the function that it wraps with RTLD_NEXT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

pid_t getppid(void) {
  pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "getppid");
  return next == getppid ? -1 : next() * 10 + 7;
}
