// A libcuda.so.1 that shows one name, cuGetProcAddress_v2. It passes on what REAL_DRIVER answers, and prints
// each name that it is asked for with the version and the flags.
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef CUresult (*Get)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

__attribute__((visibility("default"))) CUresult cuGetProcAddress_v2(const char* symbol, void** address,
                                                                    int version, cuuint64_t flags,
                                                                    CUdriverProcAddressQueryResult* status) {
  static Get get;
  if (get == NULL) {
    void* driver = dlopen(getenv("REAL_DRIVER"), RTLD_NOW | RTLD_LOCAL);
    if (driver == NULL) abort();
    get = (Get)dlsym(driver, "cuGetProcAddress_v2");
  }
  printf("asked %s %d %d\n", symbol, version, (int)flags);
  fflush(stdout);
  return get(symbol, address, version, flags, status);
}
