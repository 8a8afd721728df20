/* Stands for the stub of a toolkit, against which programs are linked where there is no driver. */
static const int kStubLibrary = 34; /* CUDA_ERROR_STUB_LIBRARY */

int cuDriverGetVersion(int* version) {
  (void)version;
  return kStubLibrary;
}
int cuCtxSynchronize(void) { return kStubLibrary; }
