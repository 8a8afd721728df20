/* A libnccl.so.2 with three functions, whose results are known by their numbers. */
#include <stddef.h>

int pncclGroupStart(void) { return 41; }
int ncclGroupStart(void) { return 40; } /* must not be reached through the library */
int ncclGroupEnd(void) { return 42; }   /* has no profiling twin */
int ncclGetVersion(int* version) {
  *version = 1;
  return 43; /* not in the table */
}
