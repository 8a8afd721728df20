// Says how many hardware channels the streams of this process share, and what streams of one channel do to
// each other. This is the only place that decides it: the machine has `channels` and `channel_order`,
// CUDA_DEVICE_MAX_CONNECTIONS replaces the number, and the fault `queues:N` stands for N channels in order.
#pragma once

#include <cstdint>
#include <string>

#include "simgpu/machine/config.h"

namespace simgpu {

// A ChannelRules has the number of channels, at least 1, and their order. With kFree the number says nothing.
struct ChannelRules {
  int count = 1;
  ChannelOrder order = ChannelOrder::kFree;
  // Returns the channel of the stream with this number, from 0 to count - 1.
  int Of(std::uint64_t stream) const { return static_cast<int>(stream % static_cast<std::uint64_t>(count)); }
};

// Returns the rules from the machine, the number of the fault `queues` (0: none) and the text of
// CUDA_DEVICE_MAX_CONNECTIONS (null: unset). A text that is no whole number from 1 to kMaxChannels is
// ignored, with one line in *complaint. Pure.
ChannelRules RulesOfChannels(const MachineConfig& machine, long queues, const char* connections,
                             std::string* complaint);

// Returns the rules of this process. REQUIRES: the machine is attached.
const ChannelRules& ProcessChannels();

}  // namespace simgpu
