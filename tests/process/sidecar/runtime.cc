// Starts the CUDA runtime, linked statically or loaded from the path in the argument. Then prints which
// functions of the driver it keeps pointers to, one line "<place in its data> <symbol> <the library that it
// lies in>".
#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#ifdef STATIC_RUNTIME
extern "C" int cudaGetDeviceCount(int* count);
extern "C" int cudaFree(void* memory);
#endif

namespace {

// Returns {address: symbol} of what the driver answers for the hooked names. The wrappers have no exported
// names of their own.
std::map<const void*, std::string> Known(void* driver) {
  std::map<const void*, std::string> known;
#define CUDA_HOOK(symbol, name, version, flavour, type, policy) \
  known.emplace(dlsym(driver, #symbol), #symbol);
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
  known.erase(nullptr);
  return known;
}

// Starts the runtime. Returns an address in its data or in its code, or null if it cannot be loaded.
const void* Start(const char* path) {
  int devices = 0;
#ifdef STATIC_RUNTIME
  (void)path;
  cudaGetDeviceCount(&devices);
  cudaFree(nullptr);
  return reinterpret_cast<const void*>(&cudaFree);
#else
  void* runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (runtime == nullptr) return nullptr;
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(runtime, "cudaGetDeviceCount"));
  const auto free = reinterpret_cast<int (*)(void*)>(dlsym(runtime, "cudaFree"));
  count(&devices);
  free(nullptr);
  return reinterpret_cast<const void*>(free);
#endif
}

void SayWord(std::uintptr_t place, const void* word, const std::map<const void*, std::string>& known) {
  Dl_info info{};
  if (dladdr(word, &info) == 0 || info.dli_fname == nullptr) return;
  const char* slash = std::strrchr(info.dli_fname, '/');
  std::string owner = slash == nullptr ? info.dli_fname : slash + 1;
  owner = owner.substr(0, owner.find(".so"));
  if (owner != "libcuda" && owner != "libcrossover") return;
  const auto found = known.find(word);
  const char* symbol = info.dli_sname == nullptr ? "?" : info.dli_sname;
  if (std::strcmp(symbol, "dlsym") == 0) return;  // the runtime links it, and the loader fills it in
  std::printf("%jx %s %s\n", static_cast<std::uintmax_t>(place),
              found == known.end() ? symbol : found->second.c_str(), owner.c_str());
}

struct Search {
  const void* base;
  const std::map<const void*, std::string>* known;
};

int Visit(dl_phdr_info* object, std::size_t, void* argument) {
  const auto* search = static_cast<const Search*>(argument);
  Dl_info info{};
  const auto* headers = reinterpret_cast<const void*>(object->dlpi_phdr);
  if (dladdr(headers, &info) == 0 || info.dli_fbase != search->base) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
    const std::uintptr_t begin = (part.p_vaddr + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);
    for (std::uintptr_t place = begin; place + sizeof(void*) <= part.p_vaddr + part.p_memsz;
         place += sizeof(void*)) {
      SayWord(place, *reinterpret_cast<void* const*>(object->dlpi_addr + place), *search->known);
    }
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const void* inside = driver == nullptr ? nullptr : Start(argc > 1 ? argv[1] : "");
  Dl_info runtime{};
  if (inside == nullptr || dladdr(inside, &runtime) == 0) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const std::map<const void*, std::string> known = Known(driver);
  Search search{runtime.dli_fbase, &known};
  dl_iterate_phdr(&Visit, &search);
  return 0;
}
