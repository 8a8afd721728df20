// Tells the books once a second how much memory each client has on its GPU, and whose budget was too little;
// on a thread of its own.
#pragma once

#include <memory>

#include "common/threads/rounds.h"
#include "deviceplugin/books/books.h"
#include "deviceplugin/nvml/library.h"

namespace crossover::deviceplugin {

// One look: asks once for each GPU that has clients. Clients whose process id is not known are left out.
void LookAtMemory(const NvmlLibrary& nvml, Books* books);

class MemoryWatch {
 public:
  // `books` outlives it.
  MemoryWatch(std::unique_ptr<NvmlLibrary> nvml, Books* books);

 private:
  std::unique_ptr<NvmlLibrary> nvml_;
  threads::Rounds rounds_;
};

}  // namespace crossover::deviceplugin
