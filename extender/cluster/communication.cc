#include "extender/cluster/communication.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace crossover::extender {
namespace {

// These are in the order of NcclFunction.
constexpr std::array<const char*, 10> kNames = {"AllReduce",     "Broadcast", "Reduce", "AllGather",
                                                "ReduceScatter", "Send",      "Recv",   "AlltoAll",
                                                "Gather",        "Scatter"};

}  // namespace

const char* NameOf(NcclFunction function) { return kNames[static_cast<std::size_t>(function)]; }

std::optional<NcclFunction> FunctionNamed(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, [](const char* each) { return std::string_view(each); });
  if (found == kNames.end()) return std::nullopt;
  return static_cast<NcclFunction>(std::distance(kNames.begin(), found));
}

bool HasRoot(NcclFunction function) {
  return function == NcclFunction::kBroadcast || function == NcclFunction::kReduce ||
         function == NcclFunction::kGather || function == NcclFunction::kScatter;
}

bool IsBetweenTwo(NcclFunction function) {
  return function == NcclFunction::kSend || function == NcclFunction::kRecv;
}

}  // namespace crossover::extender
