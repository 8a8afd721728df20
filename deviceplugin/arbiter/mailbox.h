// How other threads reach the arbiter's: what they leave is picked up at its next wake, which is now.
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
  struct Content {
    std::vector<std::uint64_t> dead;       // ids of clients whose process is ending, killed or not
    std::optional<LiveSettings> settings;  // the newest
    bool review = false;                   // what clients may do has changed
    bool stop = false;
    bool ping = false;  // somebody asks whether mail is read
  };

  bool Open(std::string* error);
  int fd() const { return fd_.get(); }  // readable while there is something

  void PutDead(std::uint64_t id);
  void PutSettings(LiveSettings settings);
  void PutReview();
  void PutStop();
  void PutPing();
  Content Take();

 private:
  // Changes what lies there, and rings.
  template <class Change>
  void Put(Change change);

  base::UniqueFd fd_;
  std::mutex mutex_;
  Content content_;
};

}  // namespace crossover::arbiter
