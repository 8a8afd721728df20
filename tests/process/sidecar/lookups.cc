// Looks functions up in every way that programs do, and prints which library each came from: one line
// "<question> <answer>".
#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

// Returns the name of the library that `address` lies in, without directory and version.
std::string Owner(const void* address) {
  Dl_info info{};
  if (address == nullptr) return "none";
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "unknown";
  const char* slash = std::strrchr(info.dli_fname, '/');
  std::string name = slash == nullptr ? info.dli_fname : slash + 1;
  return name.substr(0, name.find(".so"));
}

void Say(const std::string& question, const std::string& answer) {
  std::printf("%s %s\n", question.c_str(), answer.c_str());
}

// Checks the exact ABI and flavour: cuGetProcAddress must answer what dlsym has under the exported name.
void ProcAddress() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto get = reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(driver, "cuGetProcAddress_v2"));
  const auto get_first = reinterpret_cast<PFN_cuGetProcAddress_v11030>(dlsym(driver, "cuGetProcAddress"));
  const auto ask = [&](const char* symbol, const char* name, int version, cuuint64_t flags) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    const CUresult result = get(name, &function, version, flags, &status);
    void* exported = dlsym(driver, symbol);
    std::string answer = result != CUDA_SUCCESS ? "error" : Owner(function);
    if (exported == nullptr) answer = "absent";
    if (function != exported) answer += " other-than-dlsym";
    Say(symbol,
        answer + (function != nullptr && status != CU_GET_PROC_ADDRESS_SUCCESS ? " wrong-status" : ""));
    if (get_first == nullptr) return;
    void* first = nullptr;
    get_first(name, &first, version, flags);
    if (first != function) Say(symbol, "other-than-first-version");
  };
  constexpr cuuint64_t kLegacy = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
  constexpr cuuint64_t kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
#define CUDA_HOOK(symbol, name, version, flavour, type, policy) ask(#symbol, #name, version, k##flavour);
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
  ask("cuMemHostAlloc", "cuMemHostAlloc", 12000, kLegacy);
  ask("cuInit", "cuInit", 12000, kLegacy);
}

// Checks that no function is found before the real library is loaded.
void Scopes() {
  Say("default", Owner(dlsym(RTLD_DEFAULT, "cuLaunchKernel")));
  Say("main", Owner(dlsym(dlopen(nullptr, RTLD_NOW), "ncclAllReduce")));
  dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  Say("default-after", Owner(dlsym(RTLD_DEFAULT, "cuLaunchKernel")));
  void* missing = dlsym(RTLD_DEFAULT, "cuNoSuchFunction");
  const char* error = dlerror();
  Say("missing", missing == nullptr && error != nullptr ? "error-is-kept" : "error-is-lost");
}

void Nccl(const char* user) {
  void* library = dlopen(user, RTLD_NOW | RTLD_LOCAL);
  const auto call = [library](const char* name) {
    const auto function = reinterpret_cast<int (*)()>(dlsym(library, name));
    Say(name, function == nullptr ? dlerror() : std::to_string(function()));
  };
  call("call_group_start");
  call("call_group_end");
  call("call_get_version");
  void* nccl = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  Say("dlsym-start", Owner(dlsym(nccl, "ncclGroupStart")));
  Say("dlsym-version", Owner(dlsym(nccl, "ncclGetVersion")));
}

// Opens files of NCCL one after the other, each under its own path, and prints what each has and which file
// that calls. A library that is linked against NCCL, if there is one, uses the first.
void SeveralNccls(const char* user, int count, char** paths) {
  for (int i = 0; i < count; ++i) {
    void* nccl = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
    if (nccl == nullptr) return Say("nccl", dlerror());
    for (const char* name : {"ncclGroupStart", "ncclGroupEnd", "ncclGetVersion"}) {
      void* found = dlsym(nccl, name);
      int version = 0;
      const int result = std::strcmp(name, "ncclGetVersion") == 0
                             ? reinterpret_cast<int (*)(int*)>(found)(&version)
                             : reinterpret_cast<int (*)()>(found)();
      Say(std::to_string(i) + "-" + name, Owner(found) + " " + std::to_string(result));
    }
  }
  void* library = dlopen(user, RTLD_NOW | RTLD_LOCAL);
  Say("linked", library == nullptr
                    ? dlerror()
                    : std::to_string(reinterpret_cast<int (*)()>(dlsym(library, "call_group_start"))()));
}

// Closes a library and opens it again. If it is unmapped meanwhile, another mapping takes its place, so
// that it comes back at another address.
void Reload() {
  void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  const auto call = [&library] { return reinterpret_cast<int (*)()>(dlsym(library, "ncclGroupEnd"))(); };
  Say("before", std::to_string(call()));
  Dl_info object{};
  dladdr(dlsym(library, "ncclGetVersion"), &object);
  dlclose(library);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* there =
      mmap(object.dli_fbase, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  Say("meanwhile", there == object.dli_fbase ? "gone" : "there");
  library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  Say("after", std::to_string(call()));
}

// Loads a plugin in the way of `how`, and prints where the plugin finds the driver.
void Caller(const std::string& how, const char* path) {
  void* plugin = how == "namespace"
                     ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW)
                     : dlopen(path, RTLD_NOW | (how == "deepbind" ? RTLD_DEEPBIND : RTLD_LOCAL));
  if (plugin == nullptr) return Say("plugin", dlerror());
  for (const char* way : {"linked", "dlsym", "proc_address", "export_table"}) {
    const std::string name = std::string("caller_") + way;
    const auto ask = reinterpret_cast<void* (*)()>(dlsym(plugin, name.c_str()));
    Say(way, ask == nullptr ? dlerror() : Owner(ask()));
  }
}

// Opens a driver in another namespace. It is another driver: our wrappers must not stand before its
// functions. It is asked before and after this namespace has a driver of its own.
void OtherDriver() {
  void* other = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
  if (other == nullptr) return Say("other", dlerror());
  const auto ask = [other](const char* question) {
    void* function = dlsym(other, "cuLaunchKernel");
    Say(question, Owner(function));
    const auto get = reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(other, "cuGetProcAddress_v2"));
    void* answer = nullptr;
    CUdriverProcAddressQueryResult status{};
    const CUresult result = get("cuLaunchKernel", &answer, 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status);
    Say(std::string(question) + "-proc",
        result == CUDA_SUCCESS && answer == function ? "the-same" : "another");
  };
  ask("alone");
  void* own = dlopen("libcuda.so.1", RTLD_NOW);
  ask("beside");
  Say("own", Owner(dlsym(own, "cuLaunchKernel")));
}

// Opens drivers one after the other, each by its own path, and prints what a function of each answers and
// where it is from. Asks each again when all are there.
void SeveralDrivers(int count, char** paths) {
  void* drivers[8] = {};
  for (const char* when : {"alone", "beside"}) {
    for (int i = 0; i < count && i < 8; ++i) {
      if (drivers[i] == nullptr) drivers[i] = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
      if (drivers[i] == nullptr) return Say("driver", dlerror());
      void* function = dlsym(drivers[i], "cuCtxSynchronize");
      const int answer = reinterpret_cast<int (*)()>(function)();
      Say(std::string(when) + '-' + std::to_string(i), Owner(function) + ' ' + std::to_string(answer));
    }
  }
}

// Starts the real runtime over the driver that is there.
void Runtime(const char* path) {
  void* runtime = dlopen(path, RTLD_NOW);
  if (runtime == nullptr) return Say("runtime", dlerror());
  int version = 0;
  const auto driver_version = reinterpret_cast<int (*)(int*)>(dlsym(runtime, "cudaDriverGetVersion"));
  Say("driver-version", std::to_string(driver_version(&version)) + ' ' + std::to_string(version));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(runtime, "cudaGetDeviceCount"));
  int devices = 0;
  Say("devices", std::to_string(count(&devices)));
  using EntryPoint = int (*)(const char*, void**, unsigned, unsigned long long, int*);
  const auto entry = reinterpret_cast<EntryPoint>(dlsym(runtime, "cudaGetDriverEntryPointByVersion"));
  void* function = nullptr;
  int status = 0;
  const int result = entry("cuLaunchKernel", &function, 12000, 0, &status);
  Say("entry-point", result != 0 ? "refused" : Owner(function));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "proc-address") ProcAddress();
  if (what == "scopes") Scopes();
  if (what == "nccl" && argc > 2) Nccl(argv[2]);
  if (what == "several-nccls" && argc > 3) SeveralNccls(argv[2], argc - 3, argv + 3);
  if (what == "reload") Reload();
  if (what == "runtime" && argc > 2) Runtime(argv[2]);
  if (what == "caller" && argc > 3) Caller(argv[2], argv[3]);
  if (what == "other-driver") OtherDriver();
  if (what == "several-drivers" && argc > 2) SeveralDrivers(argc - 2, argv + 2);
  if (what == "getppid") Say("getppid", std::to_string(getppid()));
  return 0;
}
