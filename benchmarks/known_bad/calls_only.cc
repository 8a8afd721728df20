// The fault: the library detects NCCL only by its calls. A program with NCCL linked in makes no such calls.
// This library does not take it for a job without collectives either: the turns of such a job would wait
// for each other inside its kernels.
#include "sidecar/hooks/nccl_kernels.h"

extern "C" std::uint16_t __wrap__ZN9crossover5hooks12NcclKernelOfEP9CUfunc_st(CUfunction) { return 0; }
extern "C" void __wrap__ZN9crossover5hooks9OnSilenceEv() {}
