// Declares the protocol of MPS's control daemon on its socket, PIPE_DIRECTORY/control, which keeps messages
// apart (SOCK_SEQPACKET), as NVIDIA's does. Messages are single bytes, with these exceptions: kGo is followed
// by a double, kCommand by a line, kUses and a client's kFault by the UUID of a GPU, and the answer to a
// command is one message of text.
#pragma once

namespace simgpu::mps {

// A connection begins with one of these bytes.
inline constexpr char kClient = 'C';
inline constexpr char kCommand = 'Q';
// The daemon sends these to a client. kGo: the client has a server. A double follows, above 0 and up to 100:
// the percentage of the threads that the client may use at most. kEnd: the client no longer has a server.
inline constexpr char kGo = 'G';
inline constexpr char kEnd = 'T';
// A client sends this before it makes a context on a GPU.
inline constexpr char kUses = 'U';
// A fatal fault hit the GPU's clients. The daemon sends it to each client that was hit, which loses its
// contexts. A client sends it when its own work failed on a GPU.
inline constexpr char kFault = 'F';
// The daemon sends these in place of kGo, and hangs up. kNotReady: the server is in FAULT. kNoServer: no
// server can start.
inline constexpr char kNotReady = 'N';
inline constexpr char kNoServer = 'X';
// A client sends this before it ends in order.
inline constexpr char kBye = 'B';

inline constexpr char kDirectoryVariable[] = "CUDA_MPS_PIPE_DIRECTORY";
inline constexpr char kActiveThreadVariable[] = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE";
inline constexpr char kProtocolVariable[] = "CUDA_MPS_PROTOCOL_VERSION";
inline constexpr char kDefaultDirectory[] = "/tmp/nvidia-mps";

}  // namespace simgpu::mps
