// Follows turnstiles: looks at their pages, and writes the signals that are due.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "deviceplugin/signaller/followed_page.h"
#include "deviceplugin/signaller/follower.h"
#include "deviceplugin/signaller/signal_memory.h"

namespace crossover::signaller {

// Pages is not thread-safe.
class Pages {
 public:
  // An arbiter that starts over has a new turnstile. Streams may still wait at the old one.
  static constexpr std::size_t kMost = 8;
  // A client may wait this long at a turnstile that it has left (sidecar/arbiter_client/abandoned_pages.h).
  static constexpr turn::Time kOldFor = 3600 * base::kNsPerSecond;

  // Begins to follow `page` with the signals of `area` of `memory` (0: a free one), which it returns. Keeps
  // the memory as long as the page. Drops the oldest page if there are too many. Returns 0, with the reason
  // in `error`, if no area is free or the driver refuses.
  std::uint32_t Add(std::shared_ptr<SignalMemory> memory, std::unique_ptr<FollowedPage> page,
                    std::uint32_t area, turn::Time now, std::string* error);
  // Looks at all pages, and writes the signals that are due. Drops pages, except the newest, that no client
  // waits at, or that have been old for kOldFor. Returns false, with the reason in `error`, if the driver
  // refuses a write.
  bool Look(turn::Time now, std::string* error);
  bool empty() const { return pages_.empty(); }
  // Sleeps until the next look is due, or a CPU opens a gate. Sleeps at most `longest`. REQUIRES: not
  // empty().
  void Wait(turn::Time now, turn::Time longest) const;

 private:
  struct Followed {
    std::shared_ptr<SignalMemory> memory;
    std::unique_ptr<FollowedPage> page;
    std::uint32_t area = 0;
    turn::Time drop_at = turn::kNever;
    Follower follower = {};
  };

  bool IsFree(std::uint32_t area) const;

  std::vector<Followed> pages_;  // the newest is the last
  std::uint32_t last_area_ = 0;
};

}  // namespace crossover::signaller
