#include "deviceplugin/inject/library_keeper.h"

#include <sys/prctl.h>

#include <utility>

#include "common/logging/log.h"
#include "deviceplugin/inject/library_store.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::minutes kPeriod{10};
// A container that is being made now has a version that nothing names yet.
constexpr std::chrono::hours kLeastAge{1};

}  // namespace

LibraryKeeper::LibraryKeeper(std::string host_directory, std::string current, Named named)
    : host_directory_(std::move(host_directory)),
      current_(std::move(current)),
      named_(std::move(named)),
      thread_([this] { Run(); }) {}

LibraryKeeper::~LibraryKeeper() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LibraryKeeper::Run() {
  prctl(PR_SET_NAME, "xo-library");
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kPeriod, [this] { return stop_; })) {
    lock.unlock();
    if (const auto named = named_()) {
      for (const std::string& removed : CollectLibraries(host_directory_, current_, *named, kLeastAge))
        logging::Info(removed + ": no container has this version any more: removed");
    }
    lock.lock();
  }
}

}  // namespace crossover::deviceplugin
