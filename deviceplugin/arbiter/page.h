// Keeps one turnstile in memory: a sealed memfd that the arbiter creates, maps and hands to the GPU's
// clients.
//
// The seals forbid shrinking and growing, so no client can make the others fault. Every client maps the page
// writable, so nothing that is read from it can be trusted.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/fd.h"
#include "proto/turnstile.h"
#include "turn/client_words.h"

namespace crossover::arbiter {

class Page {
 public:
  // Creates and maps a page with all gates shut. Returns null on failure, with the reason in `error`.
  static std::unique_ptr<Page> Create(std::string* error);
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  int fd() const { return fd_.get(); }
  crossover_page* get() const { return page_; }
  crossover_slot& slot(turn::SlotIndex index) const { return page_->slot[index]; }

  // Sets all words of a slot to 0, except `generation` and the reserved words. Its gate is then shut.
  void ResetSlot(turn::SlotIndex index) const;

 private:
  Page(base::UniqueFd fd, crossover_page* page) : fd_(std::move(fd)), page_(page) {}

  base::UniqueFd fd_;
  crossover_page* page_;
};

// Returns a word of the page as an atomic: the GPU and other processes change it at any time.
inline std::atomic_ref<std::uint32_t> Atomic(std::uint32_t& word) {
  return std::atomic_ref<std::uint32_t>(word);
}

// A PageMemory reads and writes the page for the turn core (turn/client_words.h). SwapGate also wakes the
// futex of a gate that it changes. A GPU gate does not need that; a host gate waits for it.
class PageMemory {
 public:
  explicit PageMemory(const Page& page) : page_(page.get()) {}
  explicit PageMemory(crossover_page* page) : page_(page) {}

  std::uint32_t Load(turn::SlotIndex slot, turn::Word word) const { return Atomic(At(slot, word)).load(); }
  bool SwapGate(turn::SlotIndex slot, std::uint32_t expected, std::uint32_t desired) const;

 private:
  std::uint32_t& At(turn::SlotIndex slot, turn::Word word) const;

  crossover_page* page_;
};

}  // namespace crossover::arbiter
