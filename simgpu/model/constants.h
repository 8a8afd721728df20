// Holds the constants of the software GPU. They decide how long something takes on it, except for the kernels
// of real images: kernels/cost.cc and math/cost.cc have their costs. The constants are frozen. Each line of
// benchmarks/results/simgpu_error.jsonl names their digest, and a test compares it. After a change of one,
// that baseline must be measured again, and with it every figure of the software GPU
// (docs/design/0002-software-gpu.md).
//
// Each line declares one constant. Times are in ns unless the name says another unit.
#pragma once

#include <cstdint>

namespace simgpu::constants {

// These describe a GPU and its driver.
constexpr int kSms = 132;
constexpr std::uint64_t kMemoryMib = 81920;
constexpr std::int64_t kQuantumUs = 2000;
constexpr std::int64_t kLaunchUs = 5;
constexpr int kQueueDepth = 1024;
constexpr std::uint64_t kThreadsOfAnSm = 2048;
constexpr std::uint64_t kBlocksOfAnSm = 32;
constexpr double kCoRun = 1.0;
constexpr int kDriverVersion = 13000;

// These describe links and collectives.
constexpr double kNodeLinkBytesPerS = 1e9;
constexpr double kGpuLinkBytesPerS = 20e9;
constexpr int kNcclCtas = 4;
constexpr double kCollectiveSlowdown = 0;

// These are the sizes of tables: streams of a GPU, pieces of different demand that wait on one stream,
// changes of rate that the history keeps, events that a forecast looks at, processes of a machine, links of
// a machine.
constexpr int kTenants = 128;
constexpr int kPieces = 32;
constexpr int kHistory = 64;
constexpr int kForecastEvents = 256;
constexpr int kClients = 256;
constexpr int kLinks = 512;

// These are the times of waiting threads. A waiting thread looks at a memory word each kWordPoll, at a flow
// each kFlowPoll and for dead processes each kReapInterval. It checks whether the holder of a lock is alive
// after it has waited for kSuspicion.
constexpr std::int64_t kWordPoll = 1'000'000;
constexpr std::int64_t kFlowPoll = 5'000'000;
constexpr std::int64_t kReapInterval = 4'000'000;
constexpr std::int64_t kSuspicion = 2'000'000;
// While the GPU is busy, the thread of a stream looks at its queue again kDozeMargin before the GPU runs
// out of work, and at the latest after kLongestDoze.
constexpr std::int64_t kDozeMargin = 400'000;
constexpr std::int64_t kLongestDoze = 10'000'000;
// Kernels make up for a lateness of at most kMostOwed: a run with a later thread is void. Of the host time
// of a launch the last kBusyLaunch is spent busy.
constexpr std::int64_t kMostOwed = 300'000;
constexpr std::int64_t kBusyLaunch = 100'000;

// These decide how data is cut into pieces on a link. simgpu/nccl/edge.cc says what each does, except
// for two: kPiecesAhead pieces wait at a link at most, and NCCL's thread sleeps for at most kEnginePoll.
constexpr double kPieceSeconds = 2e-3;
constexpr double kWholeBelow = 0.15;
constexpr std::uint64_t kLeastPieces = 2;
constexpr std::uint64_t kMostPieces = 8;
constexpr std::uint64_t kMostPieceBytes = 512 * 1024;
constexpr std::uint64_t kPiecesAhead = 4;
constexpr std::int64_t kLinkTolerance = 60'000;
constexpr std::int64_t kEnginePoll = 5'000'000;

}  // namespace simgpu::constants
