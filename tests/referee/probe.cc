// Asks a library for functions as programs do. `referee_probe LIBRARY` opens the library and answers the
// questions on its standard input, one line each:
//
//     version                    the driver's version of CUDA
//     dlsym SYMBOL               the place of an exported function
//     proc1 NAME VERSION FLAGS   what cuGetProcAddress answers: result and place
//     proc2 NAME VERSION FLAGS   what cuGetProcAddress_v2 answers: result, status and place
//
// A place is the file in which a function lies, and where it lies there; "-" is none.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

namespace {

using First = CUresult (*)(const char*, void**, int, cuuint64_t);
using Second = CUresult (*)(const char*, void**, int, cuuint64_t, int*);
using Version = CUresult (*)(int*);

void* library;

std::string PlaceOf(const void* function) {
  Dl_info info{};
  if (function == nullptr) return "-";
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) return "nowhere";
  const char* slash = std::strrchr(info.dli_fname, '/');
  const auto offset =
      reinterpret_cast<std::uintptr_t>(function) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  return std::string(slash == nullptr ? info.dli_fname : slash + 1) + "+" + std::to_string(offset);
}

std::string AskDriver(const std::string& way, std::istringstream& words) {
  std::string name;
  int version = 0;
  cuuint64_t flags = 0;
  words >> name >> version >> flags;
  void* function = nullptr;
  int status = 0;
  std::string answer;
  if (way == "proc1") {
    const auto ask = reinterpret_cast<First>(dlsym(library, "cuGetProcAddress"));
    if (ask == nullptr) return "no cuGetProcAddress";
    answer = std::to_string(ask(name.c_str(), &function, version, flags));
  } else {
    const auto ask = reinterpret_cast<Second>(dlsym(library, "cuGetProcAddress_v2"));
    if (ask == nullptr) return "no cuGetProcAddress_v2";
    answer = std::to_string(ask(name.c_str(), &function, version, flags, &status));
    answer += " " + std::to_string(status);  // a statement of its own: the call writes it
  }
  return answer + " " + PlaceOf(function);
}

std::string Answer(const std::string& line) {
  std::istringstream words(line);
  std::string way;
  words >> way;
  if (way == "proc1" || way == "proc2") return AskDriver(way, words);
  if (way == "dlsym") {
    std::string symbol;
    words >> symbol;
    return PlaceOf(dlsym(library, symbol.c_str()));
  }
  if (way == "version") {
    const auto ask = reinterpret_cast<Version>(dlsym(library, "cuDriverGetVersion"));
    int version = 0;
    if (ask == nullptr || ask(&version) != CUDA_SUCCESS) return "no cuDriverGetVersion";
    return std::to_string(version);
  }
  return "unknown question: expected version, dlsym, proc1 or proc2";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: referee_probe LIBRARY < questions\n");
    return 2;
  }
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) std::cout << Answer(line) << "\n";
  return 0;
}
