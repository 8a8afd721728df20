// Maps a turnstile that the arbiter sent, and reads it for the follower.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/fd.h"
#include "deviceplugin/signaller/follower.h"
#include "proto/turnstile.h"
#include "turn/ops.h"

namespace crossover::signaller {

// A FollowedPage is not thread-safe. Any client writes the page at any time, so nothing that is read from it
// can be trusted.
class FollowedPage {
 public:
  // Maps `fd`, which it does not keep. Returns null, with the reason in `error`, if it is not what a
  // turnstile must be: one page with the magic, version and sizes that we know, sealed so that no process
  // shrinks it.
  static std::unique_ptr<FollowedPage> Map(int fd, std::string* error);
  ~FollowedPage();
  FollowedPage(const FollowedPage&) = delete;
  FollowedPage& operator=(const FollowedPage&) = delete;

  // Reads a word for the turn core (turn/client_words.h).
  std::uint32_t Load(turn::SlotIndex slot, turn::Word word) const;
  // Returns the gate of `slot`, whose futex CPUs wake when they open it.
  const std::uint32_t* gate(turn::SlotIndex slot) const { return &page_->slot[slot].gate; }
  Presence Clients() const;
  // Shows the clients that the signaller follows this page.
  void Beat();
  // Counts signals that were written again.
  void CountAgain(int signals);

 private:
  explicit FollowedPage(crossover_page* page) : page_(page) {}

  crossover_page* page_;
};

}  // namespace crossover::signaller
