// Remembers which of the handles that a program launches are NCCL's kernels.
//
// A handle is an address, whose upper 16 bits are clear on every system that the driver runs on. In an entry
// these bits hold the number of the kernel. Each entry is one word, so that readers need no lock.
// Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace crossover::hooks {

// A KernelTable maps handles of kernels to numbers of NCCL's kernels, 0 for any other kernel.
class KernelTable {
 public:
  constexpr KernelTable() = default;

  // Returns true if one load shows that the handle is none of NCCL's kernels. Returns false if it is one, and
  // also if one load does not tell.
  bool IsPlain(const void* handle) const {
    return words_[PlaceOf(KeyOf(handle), 0)].load(std::memory_order_relaxed) == KeyOf(handle);
  }

  // Finds the number that was remembered for the handle: 0 means none of NCCL's kernels. Returns false if the
  // table has none.
  bool Find(const void* handle, std::uint16_t* kernel) const {
    const std::uint64_t key = KeyOf(handle);
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      const std::uint64_t word = words_[PlaceOf(key, probe)].load(std::memory_order_relaxed);
      if (HandleIn(word) != key) continue;
      *kernel = static_cast<std::uint16_t>(word >> kKernelShift);
      return true;
    }
    return false;
  }

  // Remembers the number of the kernel for a handle. If all places for the handle are taken, replaces an
  // entry that is no kernel of NCCL's; the hooks ask the driver again about that one.
  void Remember(const void* handle, std::uint16_t kernel) {
    const std::uint64_t key = KeyOf(handle);
    if (HandleIn(key) != key) return;
    std::atomic<std::uint64_t>* place = nullptr;
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      std::atomic<std::uint64_t>& candidate = words_[PlaceOf(key, probe)];
      const std::uint64_t word = candidate.load(std::memory_order_relaxed);
      const bool free = word == 0 || HandleIn(word) == key;
      if (free || (place == nullptr && word >> kKernelShift == 0)) place = &candidate;
      if (free) break;
    }
    if (place == nullptr) place = &words_[PlaceOf(key, 0)];
    place->store(key | static_cast<std::uint64_t>(kernel) << kKernelShift, std::memory_order_relaxed);
  }

  // A What names the handles to forget: all, or those that are none of NCCL's kernels.
  enum class What { kAll, kPlain };
  void Forget(What what) {
    for (std::atomic<std::uint64_t>& word : words_) {
      if (what == What::kAll || word.load(std::memory_order_relaxed) >> kKernelShift == 0)
        word.store(0, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr int kKernelShift = 48;
  static constexpr int kPlaceBits = 12;
  static constexpr std::size_t kPlaces = std::size_t{1} << kPlaceBits;
  static constexpr std::size_t kProbes = 8;

  static std::uint64_t KeyOf(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }
  static constexpr std::size_t PlaceOf(std::uint64_t key, std::size_t probe) {
    // Handles often lie at equal distances. The product alone would put those of some distances on few
    // places.
    const auto first =
        static_cast<std::size_t>(((key ^ (key >> 8)) * 0x9e3779b97f4a7c15u) >> (64 - kPlaceBits));
    return probe == 0 ? first : (first + probe) % kPlaces;
  }
  static constexpr std::uint64_t HandleIn(std::uint64_t word) {
    return word & ((std::uint64_t{1} << kKernelShift) - 1);
  }

  std::array<std::atomic<std::uint64_t>, kPlaces> words_{};
};

// Holds the kernels of this process.
inline constinit KernelTable known_kernels;

}  // namespace crossover::hooks
