// Gives out the functions that the recorder does not record. It includes no header of CUDA, whose macros
// would replace names by those of newer versions.
#include <dlfcn.h>

extern "C" {
#define PASSED(symbol)            \
  extern void* recorder_##symbol; \
  void* recorder_##symbol = nullptr;
#include <passed.def>  // passed.py writes it
#undef PASSED
}

// Makes the exported names jump to the functions of the real driver.
void FillPassed(void* real) {
#define PASSED(symbol) recorder_##symbol = dlsym(real, #symbol);
#include <passed.def>  // passed.py writes it
#undef PASSED
}
