// Uses libraries that have an NCCL in no file named libnccl.so. It calls each in every way that nccl_user.c
// has, twice. Prints "<number of the library>-<way> <result>", and what the program itself finds of NCCL.
//
//   sidecar_carried LIBRARY...     opened with RTLD_LOCAL
//   sidecar_carried_linked         linked against one; it and the program itself, "own"
#include <dlfcn.h>

#include <cstdio>
#include <string>

namespace {

using Function = int (*)();
constexpr const char* kWays[] = {"call_group_start", "call_group_end", "use_group_start", "use_group_end",
                                 "look_up_group_start"};

void Say(const std::string& question, int answer) { std::printf("%s %d\n", question.c_str(), answer); }

void Use(void* library, const std::string& name) {
  for (const char* way : kWays) {
    const auto function = reinterpret_cast<Function>(dlsym(library, way));
    Say(name + "-" + way, function == nullptr ? -2 : function());
  }
}

// An error if nothing failed counts as nothing found.
void LookUp(void* handle, const char* way) {
  dlerror();
  const auto found = reinterpret_cast<Function>(dlsym(handle, "ncclGroupStart"));
  const bool failed = dlerror() != nullptr;
  Say(way, found == nullptr || failed ? -1 : found());
}

}  // namespace

#ifdef LINKED
extern "C" int call_group_start();
extern "C" int ncclGroupStart();

int main() {
  Say("own", ncclGroupStart());
  Say("own-call", call_group_start());
  Use(dlopen(nullptr, RTLD_NOW), "0");
#else
int main(int argc, char** argv) {
  void* libraries[8] = {};
  for (int i = 1; i < argc && i < 8; ++i) {
    libraries[i] = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (libraries[i] == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  }
  for (const char* again : {"", "again-"}) {
    for (int i = 1; i < argc && i < 8; ++i) Use(libraries[i], again + std::to_string(i - 1));
  }
#endif
  LookUp(RTLD_DEFAULT, "default");
  LookUp(dlopen(nullptr, RTLD_NOW), "main");
  return 0;
}
