// Injects faults on demand. SIMGPU_NCCL_FAULT is a comma-separated list that is read when a communicator is
// made. Each process has its own environment, so one rank can have a fault.
//
//   corrupt_byte:N   one bit of the first piece that this rank sends in its N-th ring collective is flipped
//   drop:N           this rank's connections are cut at the start of its N-th ring collective
//   stall:N          this rank never starts its N-th ring collective
//   slow_link:F      what this rank sends to other nodes takes F times as long
//
// N counts from 0, per communicator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace simgpu::nccl {

// A Fault keeps the faults of one communicator.
struct Fault {
  std::optional<std::uint32_t> corrupt_byte;
  std::optional<std::uint32_t> drop;
  std::optional<std::uint32_t> stall;
  double slow_link = 1.0;
};

// Parses a list of faults. Returns false, with one line in *error, if `text` is not such a list.
bool ParseFault(std::string_view text, Fault* fault, std::string* error);

// Parses the list in the environment variable SIMGPU_NCCL_FAULT, as ParseFault() does. Without the variable,
// there are no faults.
bool LoadFault(Fault* fault, std::string* error);

}  // namespace simgpu::nccl
