/* Looks functions up as a program of an image, and prints what it finds and whether libcrossover.so has taken
 * the function's place. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char* owner(void* address) {
  Dl_info object;
  if (address == NULL || dladdr(address, &object) == 0) return "none";
  return strstr(object.dli_fname, "libcrossover") != NULL ? "libcrossover" : "its own";
}

int main(void) {
#ifdef HAS_THREADS
  int (*volatile create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = &pthread_create;
  if (create == NULL) return 2;
#endif
  printf("parent %d\n", dlsym(RTLD_DEFAULT, "getppid") == (void*)&getppid);
  void* nccl = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (nccl == NULL) {
    printf("%s\n", dlerror());
    return 1;
  }
  int (*start)(void) = (int (*)(void))dlsym(nccl, "ncclGroupStart");
  printf("start %s %d\n", owner((void*)start), start());
  printf("version %s\n", owner(dlsym(nccl, "ncclGetVersion")));
  void* carrying = dlopen("libcarrying.so", RTLD_NOW | RTLD_LOCAL);
  int (*use)(void) = carrying == NULL ? NULL : (int (*)(void))dlsym(carrying, "use_group_start");
  printf("carried %d\n", use == NULL ? -1 : use());
  return 0;
}
