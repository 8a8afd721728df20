// Runs one rank of a job as a process of its own: an ordinary program over the CUDA driver and NCCL.
//
//   nccl_rank SCENARIO RANK RANKS UNIQUE_ID_IN_HEX
//
// It prints one line per fact, "name value". nccl_test_processes.py starts the ranks and judges the facts.
#include <cuda.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/nccl/nccl.h"
#include "tests/process/use_device.h"

namespace {

void Must(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, static_cast<int>(result));
  std::exit(1);
}

void Must(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "%s: %s: %s\n", what, ncclGetErrorString(result), ncclGetLastError(nullptr));
  std::exit(1);
}

#define MUST(call) Must(call, #call)

struct Job {
  int rank;
  int ranks;
  ncclUniqueId id;
  CUstream stream = nullptr;
  ncclComm_t comm = nullptr;
};

// Holds device memory that is filled from the host and read back to it.
template <typename T>
class Buffer {
 public:
  explicit Buffer(const std::vector<T>& values) : count_(values.size()) {
    MUST(cuMemAlloc(&address_, count_ * sizeof(T)));
    MUST(cuMemcpyHtoD(address_, values.data(), count_ * sizeof(T)));
  }
  ~Buffer() { cuMemFree(address_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return reinterpret_cast<T*>(address_); }
  std::vector<T> Read() const {
    std::vector<T> values(count_);
    MUST(cuMemcpyDtoH(values.data(), address_, count_ * sizeof(T)));
    return values;
  }

 private:
  std::size_t count_;
  CUdeviceptr address_ = 0;
};

double Milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// Waits for the stream as a framework does, then returns the communicator's state.
ncclResult_t Await(const Job& job) {
  ncclResult_t state = ncclSuccess;
  while (cuStreamQuery(job.stream) == CUDA_ERROR_NOT_READY) usleep(200);
  MUST(cuStreamSynchronize(job.stream));
  MUST(ncclCommGetAsyncError(job.comm, &state));
  return state;
}

void Say(const char* name, const std::string& value) { std::printf("%s %s\n", name, value.c_str()); }
void Say(const char* name, double value) { std::printf("%s %.3f\n", name, value); }
void Say(const char* name, int value) { std::printf("%s %d\n", name, value); }

template <typename T>
std::string Digest(const std::vector<T>& values) {
  std::uint64_t hash = 14695981039346656037u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return std::to_string(hash);
}

std::vector<float> Inputs(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = 0.01f * static_cast<float>((i * 7 + 1) % 1009) + static_cast<float>(rank);
  return values;
}

// Runs every collective once, two of them out of place, and checks the results element by element.
void RunSums(Job& job) {
  constexpr std::size_t kCount = 5003;
  const Buffer<float> in(Inputs(job.rank, kCount)), out(std::vector<float>(kCount, -1.0f));
  MUST(ncclAllReduce(in.get(), out.get(), kCount, ncclFloat32, ncclSum, job.comm, job.stream));
  MUST(cuStreamSynchronize(job.stream));
  const auto sums = out.Read();
  int wrong = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int r = 0; r < job.ranks; ++r) sum += Inputs(r, kCount)[i];
    wrong += std::abs(sums[i] - sum) < 1e-3f ? 0 : 1;
  }
  Say("wrong_sums", wrong);
  Say("digest", Digest(sums));

  const auto n = static_cast<std::size_t>(job.ranks);
  const Buffer<int> one(std::vector<int>(3, job.rank)), all(std::vector<int>(3 * n, -1));
  MUST(ncclAllGather(one.get(), all.get(), 3, ncclInt32, job.comm, job.stream));
  const Buffer<int> many(std::vector<int>(2 * n, job.rank + 1)), part(std::vector<int>(2, -1));
  MUST(ncclReduceScatter(many.get(), part.get(), 2, ncclInt32, ncclSum, job.comm, job.stream));
  const Buffer<int> told(std::vector<int>(4, job.rank == 1 ? 77 : 0));
  MUST(ncclBcast(told.get(), 4, ncclInt32, 1, job.comm, job.stream));
  const Buffer<int> most(std::vector<int>(1, 10 * job.rank));
  MUST(ncclReduce(most.get(), most.get(), 1, ncclInt32, ncclMax, 0, job.comm, job.stream));
  MUST(cuStreamSynchronize(job.stream));
  std::vector<int> expected;
  for (int r = 0; r < job.ranks; ++r) expected.insert(expected.end(), 3, r);
  Say("gathered", all.Read() == expected ? 1 : 0);
  Say("scattered", part.Read() == std::vector<int>(2, job.ranks * (job.ranks + 1) / 2) ? 1 : 0);
  Say("broadcast", told.Read() == std::vector<int>(4, 77) ? 1 : 0);
  if (job.rank == 0) Say("reduced", most.Read()[0]);
}

// Runs collectives on two streams in one group, and point-to-point transfers in both directions at once.
void RunGroup(Job& job) {
  CUstream other = nullptr;
  MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  const Buffer<int> a({job.rank}), b({10 * job.rank}), from(std::vector<int>{-1});
  MUST(ncclGroupStart());
  MUST(ncclAllReduce(a.get(), a.get(), 1, ncclInt32, ncclSum, job.comm, job.stream));
  MUST(ncclAllReduce(b.get(), b.get(), 1, ncclInt32, ncclSum, job.comm, other));
  MUST(ncclGroupEnd());
  MUST(cuStreamSynchronize(job.stream));
  MUST(cuStreamSynchronize(other));
  MUST(ncclGroupStart());
  MUST(ncclSend(a.get(), 1, ncclInt32, (job.rank + 1) % job.ranks, job.comm, job.stream));
  MUST(ncclRecv(from.get(), 1, ncclInt32, (job.rank + job.ranks - 1) % job.ranks, job.comm, job.stream));
  MUST(ncclGroupEnd());
  MUST(cuStreamSynchronize(job.stream));
  Say("first", a.Read()[0]);
  Say("second", b.Read()[0]);
  Say("received", from.Read()[0]);
  MUST(cuStreamDestroy(other));
}

std::vector<std::int64_t> Blocks(int rank, int ranks, std::size_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(ranks) * count);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1'000'000 * rank + static_cast<std::int64_t>(i);
  return values;
}

// Sends two messages of 400 KB to the next rank in one group, over links on which they take time.
void RunTwice(Job& job) {
  constexpr std::size_t kCount = 50'000;
  const auto mine = Blocks(job.rank, 2, kCount),
             theirs = Blocks((job.rank + job.ranks - 1) % job.ranks, 2, kCount);
  const Buffer<std::int64_t> in(mine), out(std::vector<std::int64_t>(mine.size(), -1));
  const int next = (job.rank + 1) % job.ranks, before = (job.rank + job.ranks - 1) % job.ranks;
  MUST(ncclGroupStart());
  for (const std::size_t first : {std::size_t{0}, kCount}) {
    MUST(ncclSend(in.get() + first, kCount, ncclInt64, next, job.comm, job.stream));
    MUST(ncclRecv(out.get() + first, kCount, ncclInt64, before, job.comm, job.stream));
  }
  MUST(ncclGroupEnd());
  MUST(cuStreamSynchronize(job.stream));
  Say("both", out.Read() == theirs ? 1 : 0);
}

// Runs AlltoAll, Gather and Scatter, in one group with an AllReduce and alone, and checks every element.
void RunExchanges(Job& job) {
  constexpr std::size_t kCount = 40'000;
  const auto ranks = static_cast<std::size_t>(job.ranks);
  const auto mine = Blocks(job.rank, job.ranks, kCount);
  const std::vector<std::int64_t> unset(mine.size(), -1);
  const Buffer<std::int64_t> in(mine), all(unset), gathered(unset), scattered(unset), part(mine);
  const Buffer<int> sum({1 << job.rank});
  const int root = job.ranks - 1;
  MUST(ncclGroupStart());
  MUST(ncclAlltoAll(in.get(), all.get(), kCount, ncclInt64, job.comm, job.stream));
  MUST(ncclAllReduce(sum.get(), sum.get(), 1, ncclInt32, ncclSum, job.comm, job.stream));
  MUST(ncclGroupEnd());
  MUST(ncclGather(in.get(), job.rank == root ? gathered.get() : nullptr, kCount, ncclInt64, root, job.comm,
                  job.stream));
  MUST(ncclScatter(job.rank == root ? in.get() : nullptr, scattered.get(), kCount, ncclInt64, root, job.comm,
                   job.stream));
  // The root keeps its own block in place.
  MUST(ncclGather(part.get() + (job.rank == root ? static_cast<std::size_t>(root) * kCount : 0), part.get(),
                  kCount, ncclInt64, root, job.comm, job.stream));
  MUST(cuStreamSynchronize(job.stream));
  std::vector<std::int64_t> turned, collected, in_place;
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto theirs = Blocks(static_cast<int>(r), job.ranks, kCount);
    const auto at = [&](std::size_t block) {
      return theirs.begin() + static_cast<std::ptrdiff_t>(block * kCount);
    };
    const auto own = static_cast<std::size_t>(job.rank);
    turned.insert(turned.end(), at(own), at(own + 1));
    collected.insert(collected.end(), at(0), at(1));
    in_place.insert(in_place.end(), at(r == static_cast<std::size_t>(root) ? r : 0),
                    at(r == static_cast<std::size_t>(root) ? r + 1 : 1));
  }
  const auto from_root = Blocks(root, job.ranks, kCount);
  auto one = unset;
  std::copy_n(from_root.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(job.rank) * kCount),
              kCount, one.begin());
  Say("transposed", all.Read() == turned ? 1 : 0);
  Say("gathered", gathered.Read() == (job.rank == root ? collected : unset) ? 1 : 0);
  Say("scattered", scattered.Read() == one ? 1 : 0);
  Say("in_place", part.Read() == (job.rank == root ? in_place : mine) ? 1 : 0);
  Say("sum", sum.Read()[0]);
}

// Makes calls that are refused. None of them ends the communicator.
void RunRefused(Job& job) {
  const Buffer<int> a(std::vector<int>(8, 1)), b(std::vector<int>(8, 2));
  const auto refused = [](const char* name, ncclResult_t result) {
    Say(name, std::to_string(static_cast<int>(result)) + " " + ncclGetLastError(nullptr));
  };
  refused("in_place", ncclAlltoAll(a.get(), a.get(), 1, ncclInt32, job.comm, job.stream));
  refused("root", ncclGather(a.get(), b.get(), 1, ncclInt32, job.ranks, job.comm, job.stream));
  refused("null", ncclScatter(nullptr, b.get(), 1, ncclInt32, job.rank, job.comm, job.stream));
  std::uint64_t bytes = 99;
  MUST(ncclCommMemStats(job.comm, ncclStatGpuMemTotal, &bytes));
  Say("bytes", static_cast<int>(bytes));
  ncclCommMemStat_t beyond = ncclStatGpuMemTotal;
  const int four = 4;
  std::memcpy(&beyond, &four, sizeof beyond);
  refused("stat", ncclCommMemStats(job.comm, beyond, &bytes));
  MUST(ncclAlltoAll(a.get(), b.get(), 1, ncclInt32, job.comm, job.stream));
  MUST(cuStreamSynchronize(job.stream));
  Say("after", b.Read()[0]);
}

// The last rank never makes the collective. All ranks revoke; the others split without the last one and go
// on. The call itself fails if another rank has revoked before it.
void RunRevoke(Job& job) {
  const Buffer<int> value({1 << job.rank});
  ncclResult_t called = ncclSuccess;
  if (job.rank != job.ranks - 1)
    called = ncclAllReduce(value.get(), value.get(), 1, ncclInt32, ncclSum, job.comm, job.stream);
  Must(called == ncclRemoteError ? ncclSuccess : called, "a collective that is revoked");
  MUST(ncclCommRevoke(job.comm, NCCL_REVOKE_DEFAULT));
  MUST(cuStreamSynchronize(job.stream));
  ncclResult_t state = ncclInternalError;
  MUST(ncclCommGetAsyncError(job.comm, &state));
  Say("state", static_cast<int>(state));
  Say("call",
      static_cast<int>(ncclAllReduce(value.get(), value.get(), 1, ncclInt32, ncclSum, job.comm, job.stream)));
  Say("twice", static_cast<int>(ncclCommRevoke(job.comm, NCCL_REVOKE_DEFAULT)));
  Say("finalize", static_cast<int>(ncclCommFinalize(job.comm)));
  ncclComm_t part = nullptr;
  MUST(ncclCommSplit(job.comm, job.rank == job.ranks - 1 ? NCCL_SPLIT_NOCOLOR : 0, job.rank, &part, nullptr));
  if (part == nullptr) return;
  const Buffer<int> next({1 << job.rank});
  MUST(ncclAllReduce(next.get(), next.get(), 1, ncclInt32, ncclSum, part, job.stream));
  MUST(cuStreamSynchronize(job.stream));
  Say("sum", next.Read()[0]);
  MUST(ncclCommDestroy(part));
}

// Leaves an ID in a file, at once and whole.
void LeaveId(const ncclUniqueId& id, const std::string& path) {
  const std::string draft = path + ".new";
  FILE* file = std::fopen(draft.c_str(), "wb");
  Must(file != nullptr && std::fwrite(&id, sizeof id, 1, file) == 1 ? ncclSuccess : ncclSystemError,
       "write the id");
  std::fclose(file);
  std::rename(draft.c_str(), path.c_str());
}

// Waits for the file and reads the ID.
ncclUniqueId FindId(const std::string& path) {
  ncclUniqueId id{};
  FILE* file = nullptr;
  while ((file = std::fopen(path.c_str(), "rb")) == nullptr) usleep(1000);
  Must(std::fread(&id, sizeof id, 1, file) == 1 ? ncclSuccess : ncclSystemError, "read the id");
  std::fclose(file);
  return id;
}

// Joins as a framework's ranks do: rank 0 makes the ID and leaves it in the store, the file STORE. Says so
// before it joins and after it has joined. Then runs collectives until the test has made the file STOP.
void RunJoin(Job& job) {
  const std::string store = std::getenv("STORE");
  std::printf("ready 1\n");
  std::fflush(stdout);
  if (job.rank == 0) {
    MUST(ncclGetUniqueId(&job.id));
    LeaveId(job.id, store);
  } else {
    job.id = FindId(store);
  }
  MUST(ncclCommInitRank(&job.comm, job.ranks, job.id, job.rank));
  std::printf("joined 1\n");
  std::fflush(stdout);
  // The last element tells whether all ranks have seen the file.
  for (bool all = false; !all;) {
    const int stop = access(std::getenv("STOP"), F_OK) == 0 ? 1 : 0;
    const Buffer<int> value({1 << job.rank, stop});
    MUST(ncclAllReduce(value.get(), value.get(), 2, ncclInt32, ncclSum, job.comm, job.stream));
    MUST(Await(job));
    all = value.Read()[1] == job.ranks;
    if (all) Say("sum", value.Read()[0]);
  }
}

// The ranks but the last form a communicator, by the ID that the test gave. It grows by the last one: rank 0
// makes an ID, which reaches the last rank in the file GROW_ID.
void RunGrow(Job& job) {
  const char* const path = std::getenv("GROW_ID");
  const bool is_new = job.rank == job.ranks - 1;
  ncclUniqueId id{};
  ncclComm_t old = nullptr;
  ncclComm_t grown = nullptr;
  if (is_new) {
    id = FindId(path);
    MUST(ncclCommGrow(nullptr, job.ranks, &id, job.rank, &grown, nullptr));
  } else {
    MUST(ncclCommInitRank(&old, job.ranks - 1, job.id, job.rank));
    Say("fewer", static_cast<int>(ncclCommGrow(old, job.ranks - 1, nullptr, -1, &grown, nullptr)));
    if (job.rank == 0) {
      MUST(ncclCommGetUniqueId(old, &id));
      ncclUniqueId second{};
      Say("second", static_cast<int>(ncclCommGetUniqueId(old, &second)));
      LeaveId(id, path);
    }
    MUST(ncclCommGrow(old, job.ranks, job.rank == 0 ? &id : nullptr, -1, &grown, nullptr));
  }
  const Buffer<int> value({1 << job.rank});
  MUST(ncclAllReduce(value.get(), value.get(), 1, ncclInt32, ncclSum, grown, job.stream));
  MUST(cuStreamSynchronize(job.stream));
  int rank = -1;
  MUST(ncclCommUserRank(grown, &rank));
  Say("rank", rank);
  Say("sum", value.Read()[0]);
  MUST(ncclCommDestroy(grown));
  MUST(ncclCommDestroy(old));
}

// Captures what `body` puts on the stream, and returns a graph that can be launched.
template <typename Body>
CUgraphExec Captured(CUstream stream, Body body) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  body();
  MUST(cuStreamEndCapture(stream, &graph));
  MUST(cuGraphInstantiate(&exec, graph, 0));
  MUST(cuGraphDestroy(graph));
  return exec;
}

// Makes `later` wait for what `earlier` has now. Within a capture, `later` becomes a part of it.
void Follow(CUstream later, CUstream earlier) {
  CUevent event = nullptr;
  MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  MUST(cuEventRecord(event, earlier));
  MUST(cuStreamWaitEvent(later, event, 0));
  MUST(cuEventDestroy(event));
}

// Launches graphs with collectives among eager ones, without a synchronisation in between: two graphs on two
// streams at once, one of them with a side stream. Checks every value. At the end launches one after its
// communicator has gone.
void RunGraphs(Job& job) {
  constexpr int kRounds = 8;
  constexpr std::size_t kCount = 3000;
  const auto ranks = static_cast<std::size_t>(job.ranks);
  CUstream second = nullptr, side = nullptr;
  MUST(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  MUST(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
  // Each sum multiplies by the number of ranks what was equal on all of them before.
  const Buffer<std::int64_t> a(std::vector<std::int64_t>(kCount, 1)), b(std::vector<std::int64_t>(7, 1));
  const Buffer<std::int64_t> c(std::vector<std::int64_t>(kCount / 2, 1));
  const auto blocks = Blocks(job.rank, job.ranks, 5);
  const Buffer<std::int64_t> in(blocks), all(std::vector<std::int64_t>(blocks.size(), -1));
  const auto sum = [&](const Buffer<std::int64_t>& buffer, std::size_t count, CUstream stream) {
    MUST(ncclAllReduce(buffer.get(), buffer.get(), count, ncclInt64, ncclSum, job.comm, stream));
  };
  sum(b, 7, job.stream);
  const CUgraphExec first = Captured(job.stream, [&] {
    sum(a, kCount, job.stream);
    Follow(side, job.stream);
    MUST(ncclGroupStart());
    MUST(ncclAlltoAll(in.get(), all.get(), 5, ncclInt64, job.comm, side));
    sum(b, 7, job.stream);
    MUST(ncclGroupEnd());
    Follow(job.stream, side);
  });
  const CUgraphExec other = Captured(second, [&] { sum(c, kCount / 2, second); });
  for (int round = 0; round < kRounds; ++round) {
    MUST(cuGraphLaunch(first, job.stream));
    MUST(cuGraphLaunch(other, second));
    if (round % 2 == 0) sum(b, 7, side);
  }
  for (const CUstream stream : {job.stream, second, side}) MUST(cuStreamSynchronize(stream));
  std::int64_t power = 1;
  for (int round = 0; round < kRounds; ++round) power *= job.ranks;
  std::int64_t more = power * job.ranks;
  for (int round = 0; round < kRounds; round += 2) more *= job.ranks;
  std::vector<std::int64_t> turned;
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto theirs = Blocks(static_cast<int>(r), job.ranks, 5);
    turned.insert(turned.end(), theirs.begin() + 5 * job.rank, theirs.begin() + 5 * (job.rank + 1));
  }
  const auto wrong = [](const std::vector<std::int64_t>& values, std::int64_t wanted) {
    return static_cast<int>(std::count_if(values.begin(), values.end(), [&](auto v) { return v != wanted; }));
  };
  Say("wrong_a", wrong(a.Read(), power));
  Say("wrong_b", wrong(b.Read(), more));
  Say("wrong_c", wrong(c.Read(), power));
  Say("transposed", all.Read() == turned ? 1 : 0);
  MUST(ncclCommDestroy(std::exchange(job.comm, nullptr)));
  MUST(cuGraphLaunch(other, second));
  MUST(cuStreamSynchronize(second));
  Say("ended", 1);
}

// AllGpus are the GPUs that the process sees: a rank, a stream and one value on each.
struct AllGpus {
  std::vector<ncclComm_t> comms;
  std::vector<CUstream> streams;
  std::vector<std::unique_ptr<Buffer<int>>> values;

  // Makes them. `value_of` returns the value of a GPU.
  template <typename ValueOf>
  explicit AllGpus(const ValueOf& value_of) {
    int gpus = 0;
    MUST(cuDeviceGetCount(&gpus));
    comms.resize(static_cast<std::size_t>(gpus));
    MUST(ncclCommInitAll(comms.data(), gpus, nullptr));
    streams.resize(comms.size());
    for (std::size_t i = 0; i < comms.size(); ++i) {
      MUST(UseDevice(static_cast<int>(i)));
      MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
      values.push_back(std::make_unique<Buffer<int>>(std::vector<int>{value_of(i)}));
    }
  }

  // Adds up the values of all ranks, each on its stream.
  void AddUp() const {
    MUST(ncclGroupStart());
    for (std::size_t i = 0; i < comms.size(); ++i) {
      MUST(ncclAllReduce(values[i]->get(), values[i]->get(), 1, ncclInt32, ncclSum, comms[i], streams[i]));
    }
    MUST(ncclGroupEnd());
  }
};

// Captures one collective of several ranks of this process into one graph, which runs on several GPUs. A
// rank's kernel ends only after those of the other ranks have begun.
void RunGraphOfAll(Job& job) {
  const AllGpus all([](std::size_t) { return 1; });
  const auto& [comms, streams, values] = all;
  const int gpus = static_cast<int>(comms.size());
  const auto follow_from = [&](std::size_t i, CUstream later, CUstream earlier) {
    MUST(UseDevice(static_cast<int>(i)));
    Follow(later, earlier);
  };
  const CUgraphExec graph = Captured(streams[0], [&] {
    for (std::size_t i = 1; i < comms.size(); ++i) follow_from(0, streams[i], streams[0]);
    all.AddUp();
    for (std::size_t i = 1; i < comms.size(); ++i) follow_from(i, streams[0], streams[i]);
  });
  for (int launch = 0; launch < 4; ++launch) MUST(cuGraphLaunch(graph, streams[0]));
  MUST(UseDevice(0));
  MUST(cuStreamSynchronize(streams[0]));
  int right = 0;
  for (const auto& value : values) right += value->Read()[0] == gpus * gpus * gpus * gpus ? 1 : 0;
  Say("gpus", gpus);
  Say("right", right);
  for (const ncclComm_t comm : comms) MUST(ncclCommAbort(comm));
  static_cast<void>(job);
}

void SayFailure(Job& job, ncclResult_t state) {
  Say("state", static_cast<int>(state));
  Say("text", ncclGetLastError(job.comm));
}

// The call itself fails if the other rank's message has arrived before it.
void RunMismatch(Job& job) {
  const Buffer<float> data(Inputs(job.rank, 100));
  const std::size_t count = job.rank == 1 ? 50 : 100;
  const ncclResult_t result =
      ncclAllReduce(data.get(), data.get(), count, ncclFloat32, ncclSum, job.comm, job.stream);
  SayFailure(job, result != ncclSuccess ? result : Await(job));
}

// Kills rank 1 between its collectives. The other ranks must not hang.
void RunDeath(Job& job) {
  const Buffer<float> data(Inputs(job.rank, 100));
  MUST(ncclAllReduce(data.get(), data.get(), 100, ncclFloat32, ncclSum, job.comm, job.stream));
  MUST(cuStreamSynchronize(job.stream));
  if (job.rank == 1) raise(SIGKILL);
  const ncclResult_t result =
      ncclAllReduce(data.get(), data.get(), 100, ncclFloat32, ncclSum, job.comm, job.stream);
  SayFailure(job, result != ncclSuccess ? result : Await(job));
  MUST(ncclCommAbort(std::exchange(job.comm, nullptr)));
}

// Rank 0 aborts a collective that never starts on its side.
void RunAbort(Job& job) {
  const Buffer<float> data(Inputs(job.rank, 100));
  const ncclResult_t result =
      ncclAllReduce(data.get(), data.get(), 100, ncclFloat32, ncclSum, job.comm, job.stream);
  if (job.rank == 0) {
    MUST(ncclCommAbort(std::exchange(job.comm, nullptr)));
    MUST(cuStreamSynchronize(job.stream));
    return Say("aborted", 1);
  }
  SayFailure(job, result != ncclSuccess ? result : Await(job));
}

// Each rank loses its contexts while it waits for a collective, or after a peer has.
void RunLost(Job& job) {
  const Buffer<float> data(Inputs(job.rank, 100));
  ncclAllReduce(data.get(), data.get(), 100, ncclFloat32, ncclSum, job.comm, job.stream);
  float word = 0;
  Say("copy", static_cast<int>(cuMemcpyDtoH(&word, reinterpret_cast<CUdeviceptr>(data.get()), sizeof word)));
  Say("finalize", static_cast<int>(ncclCommFinalize(job.comm)));
}

void RunSplit(Job& job) {
  ncclComm_t part = nullptr;
  const bool takes_part = job.rank != job.ranks - 1;
  MUST(ncclCommSplit(job.comm, takes_part ? job.rank % 2 : NCCL_SPLIT_NOCOLOR, -job.rank, &part, nullptr));
  if (!takes_part) return Say("none", part == nullptr ? 1 : 0);
  const Buffer<int> value({1 << job.rank});
  MUST(ncclAllReduce(value.get(), value.get(), 1, ncclInt32, ncclSum, part, job.stream));
  MUST(cuStreamSynchronize(job.stream));
  int rank = -1;
  MUST(ncclCommUserRank(part, &rank));
  Say("rank", rank);
  Say("sum", value.Read()[0]);
  MUST(ncclCommDestroy(part));
}

// Prints the median time of an all-reduce of 60,000 floats.
void RunTimed(Job& job) {
  constexpr std::size_t kCount = 60'000;
  const Buffer<float> data(Inputs(job.rank, kCount));
  std::ostringstream begins, ends;
  for (std::ostringstream* const times : {&begins, &ends}) *times << std::fixed;
  for (int i = 0; i < 7; ++i) {
    begins << Milliseconds() << ' ';
    MUST(ncclAllReduce(data.get(), data.get(), kCount, ncclFloat32, ncclAvg, job.comm, job.stream));
    MUST(cuStreamSynchronize(job.stream));
    ends << Milliseconds() << ' ';
  }
  Say("begins_ms", begins.str());
  Say("ends_ms", ends.str());
  Say("digest", Digest(data.Read()));
}

// Says how many of the elements of a large sum, and of a large Recv, came: 1 for all, 0 for none.
void RunLarge(Job& job) {
  constexpr std::size_t kCount = 60'000;
  const std::vector<int> unset(kCount, -1);
  const Buffer<int> mine(std::vector<int>(kCount, 1 << job.rank)), sum(unset), from(unset);
  const int next = (job.rank + 1) % job.ranks, previous = (job.rank + job.ranks - 1) % job.ranks;
  MUST(ncclAllReduce(mine.get(), sum.get(), kCount, ncclInt32, ncclSum, job.comm, job.stream));
  MUST(ncclGroupStart());
  MUST(ncclSend(mine.get(), kCount, ncclInt32, next, job.comm, job.stream));
  MUST(ncclRecv(from.get(), kCount, ncclInt32, previous, job.comm, job.stream));
  MUST(ncclGroupEnd());
  MUST(cuStreamSynchronize(job.stream));
  const auto part = [](const std::vector<int>& values, int expected) {
    return static_cast<double>(std::count(values.begin(), values.end(), expected)) / kCount;
  };
  Say("summed", part(sum.Read(), (1 << job.ranks) - 1));
  Say("received", part(from.Read(), 1 << previous));
}

ncclResult_t AwaitComm(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) {
    MUST(ncclCommGetAsyncError(comm, &state));
    usleep(100);
  }
  return state;
}

void RunNonBlocking(Job& job) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const ncclResult_t made = ncclCommInitRankConfig(&job.comm, job.ranks, job.id, job.rank, &config);
  Say("made", static_cast<int>(made));
  MUST(AwaitComm(job.comm));
  const Buffer<int> value({1 << job.rank});
  const ncclResult_t launched =
      ncclAllReduce(value.get(), value.get(), 1, ncclInt32, ncclSum, job.comm, job.stream);
  Say("launched", static_cast<int>(launched));
  MUST(AwaitComm(job.comm));
  MUST(cuStreamSynchronize(job.stream));
  Say("sum", value.Read()[0]);
}

// Drives every GPU that the process sees from one thread.
void RunInitAll(Job& job) {
  const AllGpus all([](std::size_t i) { return 1 << i; });
  const auto& [comms, streams, values] = all;
  const int gpus = static_cast<int>(comms.size());
  all.AddUp();
  int right = 0;
  for (std::size_t i = 0; i < comms.size(); ++i) {
    MUST(UseDevice(static_cast<int>(i)));
    MUST(cuStreamSynchronize(streams[i]));
    right += values[i]->Read()[0] == (1 << gpus) - 1 ? 1 : 0;
  }
  Say("gpus", gpus);
  Say("right", right);
  MUST(ncclGroupStart());
  for (const ncclComm_t comm : comms) MUST(ncclCommFinalize(comm));
  MUST(ncclGroupEnd());
  for (const ncclComm_t comm : comms) MUST(ncclCommDestroy(comm));
  static_cast<void>(job);
}

ncclUniqueId FromHex(const char* text) {
  ncclUniqueId id{};
  for (std::size_t i = 0; i < sizeof id.internal; ++i) {
    const std::string digits(text + 2 * i, 2);
    id.internal[i] = static_cast<char>(std::strtol(digits.c_str(), nullptr, 16));
  }
  return id;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 || std::strlen(argv[4]) != 2 * NCCL_UNIQUE_ID_BYTES) return 2;
  const std::string scenario = argv[1];
  Job job{std::atoi(argv[2]), std::atoi(argv[3]), FromHex(argv[4])};
  MUST(cuInit(0));
  MUST(UseDevice(0));
  MUST(cuStreamCreate(&job.stream, CU_STREAM_NON_BLOCKING));
  const std::map<std::string, void (*)(Job&)> scenarios{
      {"sums", RunSums},         {"group", RunGroup},
      {"mismatch", RunMismatch}, {"death", RunDeath},
      {"abort", RunAbort},       {"lost", RunLost},
      {"split", RunSplit},       {"timed", RunTimed},
      {"large", RunLarge},       {"nonblocking", RunNonBlocking},
      {"initall", RunInitAll},   {"exchanges", RunExchanges},
      {"twice", RunTwice},       {"refused", RunRefused},
      {"revoke", RunRevoke},     {"grow", RunGrow},
      {"graphs", RunGraphs},     {"graphofall", RunGraphOfAll},
      {"join", RunJoin}};
  const bool joins_alone = scenario == "nonblocking" || scenario == "initall" || scenario == "grow" ||
                           scenario == "graphofall" || scenario == "join";
  if (!joins_alone) MUST(ncclCommInitRank(&job.comm, job.ranks, job.id, job.rank));
  scenarios.at(scenario)(job);
  MUST(ncclCommDestroy(job.comm));
  return 0;
}
