// Runs the trainer that lies in a framework's library, with NCCL within. The program is linked against that
// library, or opens it with RTLD_LOCAL. The kernels are the program's own, and the software GPU finds them
// there.
#ifdef LINKED

#include "examples/trainer/trainer.h"

int main(int argc, char** argv) { return crossover::trainer::Main(argc, argv); }

#else

#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* library = dlopen(TRAINER, RTLD_NOW | RTLD_LOCAL);
  void* found = library == nullptr ? nullptr : dlsym(library, "_ZN9crossover7trainer4MainEiPPc");
  if (found == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  return reinterpret_cast<int (*)(int, char**)>(found)(argc, argv);
}

#endif
