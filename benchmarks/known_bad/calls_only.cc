// The fault: NCCL is looked for among the calls alone. A program that has it linked in makes none, and is not
// taken for a job without collectives here either, whose turns would wait for each other inside its kernels.
#include "sidecar/hooks/nccl_kernels.h"

extern "C" std::uint16_t __wrap__ZN9crossover5hooks12NcclKernelOfEP9CUfunc_st(CUfunction) { return 0; }
extern "C" void __wrap__ZN9crossover5hooks9OnSilenceEv() {}
