/* Stands for a framework's library. It is linked against NCCL or has an NCCL in it, and is loaded without
 * making its symbols global. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclGetVersion(int* version);

/* These are jumps: NCCL returns to the function that called them. */
int call_group_start(void) { return ncclGroupStart(); }
int call_group_end(void) { return ncclGroupEnd(); }
int call_get_version(void) {
  int version;
  return ncclGetVersion(&version);
}

/* NCCL returns to these functions. */
int use_group_start(void) {
  volatile int result = ncclGroupStart();
  return result;
}
int use_group_end(void) {
  volatile int result = ncclGroupEnd();
  return result;
}

/* Returns -1 if nothing is found. */
int look_up_group_start(void) {
  int (*found)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "ncclGroupStart");
  volatile int result = found == NULL ? -1 : found();
  return result;
}
