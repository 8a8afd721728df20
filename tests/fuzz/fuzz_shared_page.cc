// libs: crossover_arbiter_core
// Writes on the page of a GPU as clients and other processes may. Whatever they write, the arbiter goes on,
// and wants to look again later than now. It reports a write to a word that only the arbiter writes, or
// that is never written.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "deviceplugin/arbiter/gpu.h"
#include "tests/fuzz/bytes.h"
#include "turn/ops.h"

namespace {

using namespace crossover;
using arbiter::Atomic;

constexpr std::size_t kWords = sizeof(crossover_page) / sizeof(std::uint32_t);
constexpr turn::Time kMs = base::kNsPerMs;
constexpr turn::Time kSeenWithin = 6 * kMs;  // words that are never written are looked at every 5 ms

class NoObserver final : public arbiter::Observer {
  void OnEvent(const arbiter::Event&) override {}
  void OnLog(arbiter::LogLevel, std::string) override {}
  void OnStats(const std::shared_ptr<const arbiter::GpuInfo>&, const turn::Stats&) override {}
};

class Node {
 public:
  Node() {
    std::string error;
    info_->uuid = "GPU-00000000-0000-0000-0000-000000000000";
    info_->page = arbiter::Page::Create(&error);
    if (info_->page == nullptr) __builtin_trap();
    std::copy_n(Words(), kWords, first_.begin());
    gpu_.emplace(info_, turn::Settings{}, arbiter::Policy::kEnforce, &observer_);
  }

  void Step(fuzz::Bytes& input) {
    switch (input.NextByte() % 5) {
      case 0:
        return Join(input.NextByte());
      case 1:
        return Leave(input.NextByte() % turn::kMaxSlots);
      case 2:
        return Write(input.Next<std::uint16_t>() % kWords, input.Next<std::uint32_t>());
      case 3:
        return TakePart(input.NextByte() % turn::kMaxSlots);
      default:
        return Poll(1 + input.Next<std::uint16_t>() * turn::Time{1000});
    }
  }

 private:
  void Join(std::uint8_t who) {
    auto member = std::make_shared<arbiter::Member>();
    member->id = ++joined_;
    member->gang = std::string("gang-") + static_cast<char>('a' + who % 8);
    member->gpu = info_;
    if (who & 0x10) member->max_slowdown = 1.5;
    if (who & 0x20) member->known = {.busy = 20 * kMs, .away = 2 * kMs};
    const auto joined = gpu_->Join(member, now_);
    if (const auto* is = std::get_if<std::shared_ptr<const arbiter::Member>>(&joined))
      members_.Add((*is)->slot);
  }

  void Leave(turn::SlotIndex slot) {
    if (!members_.Has(slot)) return;
    members_.Remove(slot);
    gpu_->Leave(slot, now_);
  }

  // Writes a word, as any process can that has the page.
  void Write(std::size_t index, std::uint32_t value) {
    std::uint32_t& word = Words()[index];
    Atomic(word).store(value);
    // The arbiter does not look at a page that no client has.
    if (!IsNeverWritten(index) || value == first_[index] || members_.Count() == 0) return;
    Poll(kSeenWithin);
    if (!gpu_->damaged() || gpu_->evidence().empty()) __builtin_trap();
  }

  // Goes on as an honest client does: it is locked, asks, is let in if its gate is open, and gives back.
  void TakePart(turn::SlotIndex slot) {
    if (!members_.Has(slot)) return;
    crossover_slot& words = info_->page->slot(slot);
    Atomic(words.phase).store(CROSSOVER_PHASE_TAKING);
    Atomic(words.turns).store(1);
    const turn::TurnNumber hold = Atomic(words.hold).load(), ready = Atomic(words.ready).load();
    if (Atomic(words.rel).load() != hold) {
      Atomic(words.rel).store(hold);
    } else if (ready == hold) {
      Atomic(words.ready).store(turn::NextTurn(hold));
    } else if (turn::AtOrPast(Atomic(words.gate).load(), ready)) {
      Atomic(words.hold).store(ready);
      Atomic(words.gate).store(turn::LastStretch(ready));
    }
  }

  void Poll(turn::Time later) {
    now_ += later;
    const turn::Time due = gpu_->Poll(now_);
    if (due <= now_) __builtin_trap();
    if ((due == turn::kNever) != (members_.Count() == 0)) __builtin_trap();
    if (gpu_->Members().size() != static_cast<std::size_t>(members_.Count())) __builtin_trap();
    gpu_->TakeNotices();
  }

  std::uint32_t* Words() const { return reinterpret_cast<std::uint32_t*>(info_->page->get()); }

  static bool IsNeverWritten(std::size_t index) {
    const std::size_t header = offsetof(crossover_page, slot) / sizeof(std::uint32_t);
    if (index < header) {
      return index != offsetof(crossover_page, arbiter_beat) / sizeof(std::uint32_t) &&
             index != offsetof(crossover_page, signaller_beat) / sizeof(std::uint32_t) &&
             index != offsetof(crossover_page, signals_again) / sizeof(std::uint32_t);
    }
    const std::size_t byte = (index - header) * sizeof(std::uint32_t) % sizeof(crossover_slot);
    const auto within = [byte](std::size_t from, std::size_t size) {
      return byte >= from && byte < from + size;
    };
    return within(offsetof(crossover_slot, reserved0), sizeof(crossover_slot::reserved0)) ||
           within(offsetof(crossover_slot, reserved1), sizeof(crossover_slot::reserved1)) ||
           within(offsetof(crossover_slot, reserved2), sizeof(crossover_slot::reserved2)) ||
           within(offsetof(crossover_slot, reserved3), sizeof(crossover_slot::reserved3));
  }

  NoObserver observer_;
  std::shared_ptr<arbiter::GpuInfo> info_ = std::make_shared<arbiter::GpuInfo>();
  std::array<std::uint32_t, kWords> first_{};  // what stands on a page that was never written to
  std::optional<arbiter::Gpu> gpu_;
  turn::SlotSet members_;
  std::uint64_t joined_ = 0;
  turn::Time now_ = kMs;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Node node;
  crossover::fuzz::Bytes input(data, size);
  while (!input.empty()) node.Step(input);
  return 0;
}
