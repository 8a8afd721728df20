/* Stands for the libcuda.so of a toolkit or of a conda environment, against which programs are linked where
 * there is no driver. Each function of it answers with this error. */
static const int kStubLibrary = 34; /* CUDA_ERROR_STUB_LIBRARY */

#define STUB(name) \
  int name(void) { return kStubLibrary; }

STUB(cuInit)
STUB(cuDriverGetVersion)
STUB(cuDeviceGet)
STUB(cuDeviceGetCount)
STUB(cuCtxSynchronize)
STUB(cuMemAlloc_v2)
STUB(cuMemFree_v2)
STUB(cuMemGetInfo_v2)
STUB(cuStreamCreate)
STUB(cuStreamSynchronize)
STUB(cuLaunchKernel)
STUB(cuEventRecord)
STUB(cuStreamWaitEvent)
STUB(cuGetProcAddress_v2)
