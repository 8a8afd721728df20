/* Allocates 1 MiB at a time until the driver refuses, or it has MOST: `stranger_filler FILE MOST`. Leaves in
 * FILE how many MiB it had. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  CUcontext context = NULL;
  CUdeviceptr address = 0;
  int had = 0;
  if (argc != 3 || cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
      cuCtxSetCurrent(context) != CUDA_SUCCESS) {
    fprintf(stderr, "usage: stranger_filler FILE MOST, on a machine with a GPU\n");
    return 2;
  }
  while (had < atoi(argv[2]) && cuMemAlloc(&address, 1 << 20) == CUDA_SUCCESS) ++had;
  FILE* const file = fopen(argv[1], "w");
  if (file == NULL || fprintf(file, "%d\n", had) < 0 || fclose(file) != 0) return 3;
  return 0;
}
