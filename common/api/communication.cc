#include "common/api/communication.h"

#include <algorithm>
#include <iterator>

#include "common/base/nccl_functions.h"

namespace crossover::api {

using base::kNcclFunctions;  // in the order of NcclFunction

const char* NameOf(NcclFunction function) { return kNcclFunctions[static_cast<std::size_t>(function)]; }

std::optional<NcclFunction> FunctionNamed(std::string_view name) {
  const auto found =
      std::ranges::find(kNcclFunctions, name, [](const char* each) { return std::string_view(each); });
  if (found == kNcclFunctions.end()) return std::nullopt;
  return static_cast<NcclFunction>(std::distance(kNcclFunctions.begin(), found));
}

bool HasRoot(NcclFunction function) {
  return function == NcclFunction::kBroadcast || function == NcclFunction::kReduce ||
         function == NcclFunction::kGather || function == NcclFunction::kScatter;
}

bool IsBetweenTwo(NcclFunction function) {
  return function == NcclFunction::kSend || function == NcclFunction::kRecv;
}

}  // namespace crossover::api
