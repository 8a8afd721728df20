// Passes messages from other threads to the arbiter's thread. A message wakes that thread at once.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/base/fd.h"
#include "deviceplugin/arbiter/settings.h"

namespace crossover::arbiter {

class Mailbox {
 public:
  // A Content holds all that was put since the last Take.
  struct Content {
    std::vector<std::uint64_t> dead;       // IDs of clients whose process is ending, killed or not
    std::optional<LiveSettings> settings;  // the newest settings
    bool review = false;                   // what clients may do has changed
    bool stop = false;
    bool ping = false;  // a caller of Arbiter::Answers waits for a sign of life
  };

  bool Open(std::string* error);
  int fd() const { return fd_.get(); }  // readable while the mailbox holds a message

  // The Put functions may be called from any thread. They do not wait for the arbiter.
  void PutDead(std::uint64_t id);
  void PutSettings(LiveSettings settings);
  void PutReview();
  void PutStop();
  void PutPing();
  // Returns all that was put since the last call. Only the arbiter's thread calls it.
  Content Take();

 private:
  // Applies `change` to content_ and wakes the arbiter's thread.
  template <class Change>
  void Put(Change change);

  base::UniqueFd fd_;
  std::mutex mutex_;
  Content content_;
};

}  // namespace crossover::arbiter
