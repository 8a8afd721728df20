// Remembers which file of NCCL each call site in the process calls. A site is the address that the call
// returns to.
//
// Each entry is one word, so that readers need no lock. The entries of a library that was closed stay. They
// are wrong only for another library that has a call with the very same return address and is bound to
// another NCCL.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace crossover::hooks {

// NcclSites is a bounded table of these places. Thread-safe.
class NcclSites {
 public:
  // Finds the file for `site`. Returns false if it is not known.
  bool Find(const void* site, std::size_t* file) const {
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      const std::uint64_t entry = At(site, probe).load(std::memory_order_relaxed);
      if (entry == 0 || AddressIn(entry) != Address(site)) continue;
      *file = static_cast<std::size_t>(entry >> kFileShift);
      return true;
    }
    return false;
  }

  // Remembers the file for `site`. If all places are taken, forgets another site, which its next call looks
  // up again.
  void Remember(const void* site, std::size_t file) {
    const std::uint64_t address = Address(site);
    if (AddressIn(address) != address) return;
    std::size_t probe = 0;
    while (probe + 1 < kProbes && At(site, probe).load(std::memory_order_relaxed) != 0) ++probe;
    const std::uint64_t entry = address | static_cast<std::uint64_t>(file) << kFileShift;
    At(site, probe).store(entry, std::memory_order_relaxed);
  }

 private:
  static constexpr int kFileShift = 48;         // the bits above are clear in every address
  static constexpr std::size_t kPlaces = 2048;  // a power of two
  static constexpr std::size_t kProbes = 8;

  static std::uint64_t Address(const void* site) { return reinterpret_cast<std::uintptr_t>(site); }
  static constexpr std::uint64_t AddressIn(std::uint64_t entry) {
    return entry & ((std::uint64_t{1} << kFileShift) - 1);
  }
  static std::size_t Place(const void* site, std::size_t probe) {
    return (static_cast<std::size_t>((Address(site) * 0x9e3779b97f4a7c15u) >> 40) + probe) % kPlaces;
  }
  const std::atomic<std::uint64_t>& At(const void* site, std::size_t probe) const {
    return places_[Place(site, probe)];
  }
  std::atomic<std::uint64_t>& At(const void* site, std::size_t probe) { return places_[Place(site, probe)]; }

  std::array<std::atomic<std::uint64_t>, kPlaces> places_{};
};

}  // namespace crossover::hooks
