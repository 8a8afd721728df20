// libs: crossover_shrink_meeting
// Reads any bytes as an ncclUniqueId. A place that is taken is one where a process can listen, and writing it
// into the same ID without its tail gives the same bytes. A tail that is not zero is never written over.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "shrink/meeting/tail.h"
#include "tests/fuzz/require.h"

using namespace crossover::shrink;
using crossover::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  vote::Id id{};
  std::copy_n(data, std::min(size, id.size()), id.begin());
  const meeting::Tail tail = meeting::ReadTail(id);
  const meeting::Place other{meeting::FromIpv4({127, 0, 0, 1}), 1};
  vote::Id written = id;
  Require(meeting::WriteTail(other, &written) == (tail.kind == meeting::TailKind::kNone));
  Require((written == id) == (tail.kind != meeting::TailKind::kNone));
  Require((tail.kind == meeting::TailKind::kUnknown) == !tail.reason.empty());
  const meeting::Address of_nccl = meeting::AddressOfNccl(id);
  Require(!meeting::IsIpv4(of_nccl) || of_nccl.scope == 0 || id[8] == 10);
  if (tail.kind != meeting::TailKind::kPlace) return 0;
  Require(tail.place.port != 0 && tail.place.address != meeting::Address{});
  vote::Id again = id;
  std::fill(again.begin() + meeting::kZeroFrom, again.end(), std::uint8_t{0});
  Require(meeting::WriteTail(tail.place, &again) && again == id);
  return 0;
}
