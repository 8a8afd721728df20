// The constants of the software GPU: whatever decides how long something takes on it. They are frozen: each
// line of benchmarks/results/simgpu_error.jsonl names their digest, and a test compares it. A change of one
// demands that this baseline is taken again, and with it every figure of the software GPU
// (docs/design/0002-software-gpu.md).
//
// One constant a line. Times are ns where the name says nothing else.
#pragma once

#include <cstdint>

namespace simgpu::constants {

// A GPU, and what its driver does.
constexpr int kSms = 132;
constexpr std::uint64_t kMemoryMib = 81920;
constexpr std::int64_t kQuantumUs = 2000;
constexpr std::int64_t kLaunchUs = 5;
constexpr int kQueueDepth = 1024;
constexpr std::uint64_t kThreadsOfAnSm = 2048;
constexpr std::uint64_t kBlocksOfAnSm = 32;
constexpr double kCoRun = 1.0;
constexpr int kDriverVersion = 13000;

// Links and collectives.
constexpr double kNodeLinkBytesPerS = 1e9;
constexpr double kGpuLinkBytesPerS = 20e9;
constexpr int kNcclCtas = 4;
constexpr double kCollectiveSlowdown = 0;

// Tables: streams of a GPU, kernels of different demand that wait on one, changes of rate that are
// remembered, events of a forecast, processes and links of a machine.
constexpr int kTenants = 128;
constexpr int kPieces = 32;
constexpr int kHistory = 64;
constexpr int kForecastEvents = 256;
constexpr int kClients = 256;
constexpr int kLinks = 512;

// Waiting: how often a word, a flow and dead processes are looked at; when the holder of a lock is suspected;
// how long before the GPU runs dry a stream's thread looks at its queue again, and how long it sleeps at
// most; the lateness that kernels make up for, as a run with later threads is void; the end of a launch that
// is spent busy.
constexpr std::int64_t kWordPoll = 1'000'000;
constexpr std::int64_t kFlowPoll = 5'000'000;
constexpr std::int64_t kReapInterval = 4'000'000;
constexpr std::int64_t kSuspicion = 2'000'000;
constexpr std::int64_t kDozeMargin = 400'000;
constexpr std::int64_t kLongestDoze = 10'000'000;
constexpr std::int64_t kMostOwed = 300'000;
constexpr std::int64_t kBusyLaunch = 100'000;

// Pieces of data on a link.
constexpr double kPieceSeconds = 2e-3;
constexpr double kWholeBelow = 0.15;
constexpr std::uint64_t kLeastPieces = 2;
constexpr std::uint64_t kMostPieces = 8;
constexpr std::uint64_t kMostPieceBytes = 512 * 1024;
constexpr std::uint64_t kPiecesAhead = 4;
constexpr std::int64_t kLinkTolerance = 60'000;
constexpr std::int64_t kEnginePoll = 5'000'000;

}  // namespace simgpu::constants
