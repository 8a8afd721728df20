/* Stands for libnccl.so.2. The result of each of its functions tells which function it was. A second build
 * returns numbers that are OTHER greater. */
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
