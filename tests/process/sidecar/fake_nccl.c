/* A libnccl.so.2 with three functions, whose results are known by their numbers, and another, OTHER more. */
#include <stddef.h>

#ifndef OTHER
#define OTHER 0
#endif

#ifndef STUB /* has no profiling twins */
int pncclGroupStart(void) { return 41 + OTHER; }
#endif
int ncclGroupStart(void) { return 40 + OTHER; } /* must not be reached through the library */
int ncclGroupEnd(void) { return 42 + OTHER; }   /* has no profiling twin */
int ncclGetVersion(int* version) {
  *version = 1;
  return 43 + OTHER; /* not in the table */
}
