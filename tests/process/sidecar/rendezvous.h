// Lets the ranks of a test's job find each other.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "simgpu/nccl/nccl.h"

// Ends the program if a call has failed.
inline void Must(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "%s: expected 0, got %d\n", what, result);
  std::exit(1);
}

#define MUST(call) Must(static_cast<int>(call), #call)

// Returns rank 0's unique id. The other ranks read it from a file that appears whole. `make` is the
// ncclGetUniqueId of the NCCL in use.
inline ncclUniqueId Share(decltype(&ncclGetUniqueId) make, const std::string& path, int rank) {
  ncclUniqueId id{};
  const std::string fresh = path + ".new";
  if (rank == 0) {
    MUST(make(&id));
    std::FILE* file = std::fopen(fresh.c_str(), "wb");
    Must(file == nullptr || std::fwrite(&id, sizeof id, 1, file) != 1 || std::fclose(file) != 0,
         "write the id");
    MUST(std::rename(fresh.c_str(), path.c_str()));
    return id;
  }
  std::FILE* file = nullptr;
  while ((file = std::fopen(path.c_str(), "rb")) == nullptr) usleep(1000);
  Must(std::fread(&id, sizeof id, 1, file) != 1, "read the id");
  std::fclose(file);
  return id;
}
