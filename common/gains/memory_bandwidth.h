// Knows how fast GPUs read and write their memory, for estimates of what a kernel takes that does little
// else. Pure.
#pragma once

#include <array>
#include <string_view>

namespace crossover::gains {

// A MemoryBandwidth is that of all GPUs whose name, as NVML has it, contains the words `name`. The numbers
// are those of NVIDIA's data sheets "NVIDIA A100", "A10", "A30", "A40", "H100", "H200", "L4", "L40", "L40S"
// and "T4 Tensor Core GPU" and "NVIDIA V100". They were compared with copies of their tables, but for the
// A30, of which none was found. For the H100 PCIe the product brief PB-11133-001 says more than 2,000 GB/s.
// The A10G has no data sheet. It has the memory of the A10.
struct MemoryBandwidth {
  std::string_view name;
  double bytes_per_s;
};
// A GPU that is not here is not known. The V100S, the GH200 and the A100 of 64 GB are none of these.
inline constexpr std::array kMemoryBandwidths = {MemoryBandwidth{"A100-SXM4-80GB", 2.039e12},
                                                 MemoryBandwidth{"A100-SXM-80GB", 2.039e12},
                                                 MemoryBandwidth{"A100 80GB PCIe", 1.935e12},
                                                 MemoryBandwidth{"A100-SXM4-40GB", 1.555e12},
                                                 MemoryBandwidth{"A100-PCIE-40GB", 1.555e12},
                                                 MemoryBandwidth{"A10G", 6.00e11},
                                                 MemoryBandwidth{"A10", 6.00e11},
                                                 MemoryBandwidth{"A30", 9.33e11},
                                                 MemoryBandwidth{"A40", 6.96e11},
                                                 MemoryBandwidth{"H100 80GB HBM3", 3.35e12},
                                                 MemoryBandwidth{"H100 PCIe", 2.0e12},
                                                 MemoryBandwidth{"H200", 4.8e12},
                                                 MemoryBandwidth{"L40S", 8.64e11},
                                                 MemoryBandwidth{"L40", 8.64e11},
                                                 MemoryBandwidth{"L4", 3.00e11},
                                                 MemoryBandwidth{"Tesla T4", 3.20e11},
                                                 MemoryBandwidth{"V100", 9.00e11}};

// Returns whether `text` contains `words`, neither within a longer word. Digits belong to words.
constexpr bool ContainsWords(std::string_view text, std::string_view words) {
  const auto in_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  for (auto at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) {
    const auto end = at + words.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return true;
  }
  return false;
}

// Returns the bytes that a GPU with this name reads and writes in a second, or 0 if that is not known.
constexpr double MemoryBandwidthOf(std::string_view gpu) {
  for (const MemoryBandwidth& row : kMemoryBandwidths) {
    if (ContainsWords(gpu, row.name)) return row.bytes_per_s;
  }
  return 0;
}

}  // namespace crossover::gains
