// Tells the books once a second how much memory each client has on its GPU, and whose budget was too little,
// and keeps how each GPU is used; on a thread of its own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/threads/rounds.h"
#include "deviceplugin/books/books.h"
#include "deviceplugin/nvml/library.h"

namespace crossover::deviceplugin {

// One look: asks once for each GPU that has clients. Clients whose process id is not known are left out.
void LookAtMemory(const NvmlLibrary& nvml, Books* books);

class MemoryWatch {
 public:
  // `library`: the driver's, which may come later, or be loaded anew. `books` outlives it.
  MemoryWatch(std::string library, Books* books);

  // By UUID, as of the last look; on any thread.
  std::map<std::string, NvmlLibrary::Usage> usages() const;

 private:
  void Look(Books* books);

  const std::string library_;
  std::unique_ptr<NvmlLibrary> nvml_;  // null: no driver yet
  bool complained_ = false;
  bool answered_ = false;  // for any GPU, since it was loaded
  mutable std::mutex mutex_;
  std::map<std::string, NvmlLibrary::Usage> usages_;
  threads::Rounds rounds_;  // last: it uses the others
};

}  // namespace crossover::deviceplugin
