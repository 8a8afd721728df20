// Removes, now and then, versions of the library that no container of this node has any more. On a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace crossover::deviceplugin {

class LibraryKeeper {
 public:
  // What names the directories that are still used, somewhere in it; nothing where that is not known now.
  using Named = std::function<std::optional<std::string>()>;

  // `current`: the directory that new containers get.
  LibraryKeeper(std::string host_directory, std::string current, Named named);
  ~LibraryKeeper();

 private:
  void Run();

  const std::string host_directory_;
  const std::string current_;
  const Named named_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace crossover::deviceplugin
