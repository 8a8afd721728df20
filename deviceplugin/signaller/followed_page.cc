#include "deviceplugin/signaller/followed_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "common/base/futex.h"
#include "common/base/refusal.h"
#include "deviceplugin/arbiter/liveness.h"
#include "deviceplugin/arbiter/page.h"

namespace crossover::signaller {
namespace {

bool IsSealedPage(int fd, std::string* error) {
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    *error = base::Refusal("turnstile", "a memfd that is sealed against shrinking", "none");
    return false;
  }
  struct stat status {};
  if (fstat(fd, &status) != 0 || status.st_size != CROSSOVER_PAGE_BYTES) {
    *error = base::Refusal("turnstile: bytes", std::to_string(CROSSOVER_PAGE_BYTES),
                           std::to_string(status.st_size));
    return false;
  }
  return true;
}

bool HasHead(crossover_page* page, std::string* error) {
  const struct {
    const char* key;
    std::uint32_t* word;
    std::uint32_t expected;
  } words[] = {{"turnstile: magic", &page->magic, CROSSOVER_TURNSTILE_MAGIC},
               {"turnstile: version", &page->version, CROSSOVER_TURNSTILE_VERSION},
               {"turnstile: bytes in its head", &page->bytes, sizeof(crossover_page)},
               {"turnstile: clients", &page->clients, CROSSOVER_MAX_CLIENTS}};
  for (const auto& word : words) {
    const std::uint32_t found = base::LoadWord(word.word);
    if (found == word.expected) continue;
    *error = base::Refusal(word.key, std::to_string(word.expected), std::to_string(found));
    return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<FollowedPage> FollowedPage::Map(int fd, std::string* error) {
  if (!IsSealedPage(fd, error)) return nullptr;
  void* memory = mmap(nullptr, CROSSOVER_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    *error = std::string("a turnstile cannot be mapped: ") + std::strerror(errno);
    return nullptr;
  }
  std::unique_ptr<FollowedPage> page(new FollowedPage(static_cast<crossover_page*>(memory)));
  return HasHead(page->page_, error) ? std::move(page) : nullptr;
}

FollowedPage::~FollowedPage() { munmap(page_, CROSSOVER_PAGE_BYTES); }

std::uint32_t FollowedPage::Load(turn::SlotIndex slot, turn::Word word) const {
  return arbiter::PageMemory(page_).Load(slot, word);
}

Presence FollowedPage::Clients() const {
  Presence presence{.living = {}};
  for (turn::SlotIndex slot = 0; slot < turn::kMaxSlots; ++slot) {
    const std::uint32_t alive = arbiter::Atomic(page_->slot[slot].alive).load();
    const arbiter::AliveWord state = arbiter::ReadAliveWord(alive);
    if (state == arbiter::AliveWord::kOwned) presence.living.Add(slot);
    if (state == arbiter::AliveWord::kDead) presence.killed.Add(slot);
  }
  return presence;
}

void FollowedPage::Beat() { arbiter::Atomic(page_->signaller_beat).fetch_add(1); }

void FollowedPage::CountAgain(int signals) {
  if (signals != 0) arbiter::Atomic(page_->signals_again).fetch_add(static_cast<std::uint32_t>(signals));
}

}  // namespace crossover::signaller
