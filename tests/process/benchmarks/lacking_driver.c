/* A libcuda.so.1 that lacks something and passes all else on to the software GPU's, which is its dependency
 * libcuda_behind.so. GPU_SUITE_LACK says what it lacks:
 *   jit      its compiler for PTX: a text image is refused with CUDA_ERROR_JIT_COMPILER_NOT_FOUND
 *   memory   memory for more than GPU_SUITE_CONTEXTS contexts: each holds a lock on a file of that folder */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#undef cuGetProcAddress

static void* Behind(const char* symbol) {
  void* library = dlopen("libcuda_behind.so", RTLD_NOW);
  void* found = library == NULL ? NULL : dlsym(library, symbol);
  if (found == NULL) abort();
  return found;
}

static int Lacks(const char* what) {
  const char* lack = getenv("GPU_SUITE_LACK");
  return lack != NULL && strcmp(lack, what) == 0;
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  CUresult (*load)(CUmodule*, const void*) = Behind("cuModuleLoadData");
  return Lacks("jit") ? CUDA_ERROR_JIT_COMPILER_NOT_FOUND : load(module, image);
}

/* Takes a place for a context, which the process keeps until it ends. Returns whether there was one. */
static int TakePlace(void) {
  const char* folder = getenv("GPU_SUITE_CONTEXTS");
  static int place = -1;
  for (int number = 0; folder != NULL && place < 0; ++number) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", folder, number);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return 0; /* there are no more places */
    if (flock(file, LOCK_EX | LOCK_NB) == 0) place = file;
  }
  return 1;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  CUresult (*retain)(CUcontext*, CUdevice) = Behind("cuDevicePrimaryCtxRetain");
  const char* node = getenv("SIMGPU_NODE");
  const int is_peer = node != NULL && strcmp(node, "1") == 0; /* it is on the GPU of another node */
  if (Lacks("memory") && !is_peer && !TakePlace()) return CUDA_ERROR_OUT_OF_MEMORY;
  return retain(context, device);
}

CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  CUresult (*get)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*) =
      Behind("cuGetProcAddress_v2");
  const CUresult result = get(name, function, version, flags, status);
  if (result != CUDA_SUCCESS || function == NULL || *function == NULL) return result;
  if (strcmp(name, "cuModuleLoadData") == 0) *function = (void*)&cuModuleLoadData;
  if (strcmp(name, "cuGetProcAddress") == 0) *function = (void*)&cuGetProcAddress_v2;
  if (strcmp(name, "cuDevicePrimaryCtxRetain") == 0) *function = (void*)&cuDevicePrimaryCtxRetain;
  return result;
}
