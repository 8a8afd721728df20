// What the control daemon of MPS is told over its socket, PIPE_DIRECTORY/control, and says: single bytes, but
// for a command, which is a line, and its answer, which goes on until the end.
#pragma once

namespace simgpu::mps {

// First of each connection.
inline constexpr char kClient = 'C';
inline constexpr char kCommand = 'Q';
// To a client: it has a server, and behind that one byte, from 1 to 100: the percentage of the threads that
// it may use at most; it has none any more.
inline constexpr char kGo = 'G';
inline constexpr char kEnd = 'T';
// Of a client that ends in good order.
inline constexpr char kBye = 'B';

inline constexpr char kDirectoryVariable[] = "CUDA_MPS_PIPE_DIRECTORY";
inline constexpr char kActiveThreadVariable[] = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE";
inline constexpr char kDefaultDirectory[] = "/tmp/nvidia-mps";

}  // namespace simgpu::mps
