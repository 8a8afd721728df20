#include "simgpu/cuda/channels.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace simgpu {
namespace {

// Returns the number that the text stands for, or 0 if it is no number of channels.
int ReadConnections(std::string_view text) {
  const bool digits = !text.empty() && text.size() <= 2 &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  const int value = digits ? std::atoi(std::string(text).c_str()) : 0;
  return value <= kMaxChannels ? value : 0;
}

}  // namespace

ChannelRules RulesOfChannels(const MachineConfig& machine, long queues, const char* connections,
                             std::string* complaint) {
  if (queues > 0) return {static_cast<int>(queues), ChannelOrder::kInOrder};
  ChannelRules rules{machine.channels, machine.channel_order};
  if (connections == nullptr) return rules;
  if (const int wanted = ReadConnections(connections); wanted > 0) {
    rules.count = wanted;
  } else {
    *complaint = "environment: CUDA_DEVICE_MAX_CONNECTIONS=" + std::string(connections) +
                 ": expected a whole number from 1 to " + std::to_string(kMaxChannels) +
                 "; the variable is ignored";
  }
  return rules;
}

}  // namespace simgpu
