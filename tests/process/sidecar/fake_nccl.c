/* A libnccl.so.2 with three functions, whose results are known by their numbers, and another, OTHER more. */
#include <stddef.h>

#ifndef OTHER
#define OTHER 0
#endif

int pncclGroupStart(void) { return 41 + OTHER; }
int ncclGroupStart(void) { return 40 + OTHER; } /* must not be reached through the library */
int ncclGroupEnd(void) { return 42 + OTHER; }   /* has no profiling twin */
int ncclGetVersion(int* version) {
  *version = 1;
  return 43 + OTHER; /* not in the table */
}
