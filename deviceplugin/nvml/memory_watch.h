// Tells the books once a second how much memory each client has on its GPU, on a thread of its own.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "deviceplugin/books/books.h"
#include "deviceplugin/nvml/library.h"

namespace crossover::deviceplugin {

// One look: asks once for each GPU that has clients. Clients whose process id is not known are left out.
void LookAtMemory(const NvmlLibrary& nvml, Books* books);

class MemoryWatch {
 public:
  // `books` outlives it.
  MemoryWatch(std::unique_ptr<NvmlLibrary> nvml, Books* books);
  ~MemoryWatch();

 private:
  void Run();

  std::unique_ptr<NvmlLibrary> nvml_;
  Books* books_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace crossover::deviceplugin
