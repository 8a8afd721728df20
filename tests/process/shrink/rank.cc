// Runs one rank of a job that makes a communicator and reduces: shrink_rank SCENARIO RANK RANKS IDS. Rank 0
// leaves the unique ID in the file IDS, and the number of each further one behind it. What happens is on
// standard output, a line for each step: "init 0", "sum narrow 0". The program ends with 0 if it comes to the
// end, whatever NCCL says, and with 3 if a step of NCCL fails. SHRINK_TEST_TOPOLOGY=NODESxRANKS says how the
// ranks are divided, for the oracle of q8 and of adaptive bits.
#include <cuda.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "shrink/codec/bf16.h"
#include "shrink/codec/exchange.h"
#include "shrink/library/error_account.h"
#include "shrink/library/topology.h"
#include "simgpu/nccl/nccl.h"
#include "tests/process/shrink/oracle.h"
#include "tests/process/sidecar/rendezvous.h"

namespace {

namespace shrink = crossover::shrink;

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// Says a step of NCCL, and ends the program where it failed.
void Step(const std::string& what, ncclResult_t result) {
  Say(what + " " + std::to_string(result));
  if (result != ncclSuccess) std::exit(3);
}

constexpr std::size_t kCount = 100'003;   // no multiple of anything
constexpr std::size_t kLeast = 65'536;    // elements that are narrowed
constexpr std::size_t kPlanned = 70'001;  // elements of the scenarios in which plans change
constexpr float kRest = 1.0F / 1024;      // is lost in bf16

// The values differ in size from 8,192 elements to the next, and from phase to phase. In phase 0 they do not.
unsigned phase = 0;
float SizeAt(std::size_t i) {
  return phase == 0 ? 1.0F : std::ldexp(1.0F, static_cast<int>((i / 8'192 * 3 + phase) % 8));
}

// The first four elements are special. Behind them rank r has small whole numbers, whose sums are exact in
// bf16, and a rest that bf16 does not have.
float ValueOf(int rank, std::size_t i) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (i == 0) return rank == 0 ? std::numeric_limits<float>::quiet_NaN() : 1;
  if (i == 1) return rank == 1 ? kInfinity : 1;
  if (i == 2) return rank == 0 ? kInfinity : -kInfinity;
  if (i == 3) return rank == 0 ? std::numeric_limits<float>::max() : 0;
  return (static_cast<float>((i + static_cast<std::size_t>(rank)) % 7 + 1) + kRest) * SizeAt(i);
}

enum class As { kPlain, kNarrow };

// Returns the sum of all ranks: an oracle that knows nothing of the library.
float SumOf(int ranks, std::size_t i, As as) {
  float sum = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const float value = ValueOf(rank, i);
    sum += as == As::kPlain ? value : shrink::FromBf16(shrink::ToBf16(value));
  }
  return sum;
}

bool IsSame(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || shrink::BitsOf(a) == shrink::BitsOf(b);
}

bool IsAll(const std::vector<float>& got, int ranks, As as, float divisor) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!IsSame(got[i], SumOf(ranks, i, as) / divisor)) return false;
  }
  return true;
}

// Returns what all ranks have.
shrink::Buffers AllValues(std::size_t ranks, std::size_t count) {
  shrink::Buffers buffers(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (std::size_t i = 0; i < count; ++i) buffers[rank].push_back(ValueOf(static_cast<int>(rank), i));
  return buffers;
}

bool IsBitForBit(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Waits until a call on a communicator that does not block has been made.
ncclResult_t AwaitProgress(ncclComm_t comm, ncclResult_t result) {
  while (result == ncclInProgress) {
    usleep(1000);
    MUST(ncclCommGetAsyncError(comm, &result));
  }
  return result;
}

class Rank {
 public:
  Rank(int rank, int ranks, std::string ids) : rank_(rank), ranks_(ranks), ids_(std::move(ids)) {
    MUST(cuInit(0));
    CUdevice device = 0;
    CUcontext context = nullptr;
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    for (CUstream* stream : {&stream_, &other_}) MUST(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING));
    const char* level = std::getenv("CROSSOVER_SHRINK");
    if (level != nullptr && std::strcmp(level, "auto") == 0) level = std::getenv("CROSSOVER_SHRINK_CHOICE");
    oracle_.adaptive = level != nullptr && std::strcmp(level, "adaptive") == 0;
    exchanges_ = oracle_.adaptive || (level != nullptr && std::strcmp(level, "q8") == 0);
    for (CUdeviceptr* memory : {&from_, &to_, &more_}) MUST(cuMemAlloc(memory, kCount * sizeof(float)));
    Fill(0);
    const char* topology = std::getenv("SHRINK_TEST_TOPOLOGY");
    if (topology != nullptr)
      std::sscanf(topology, "%zux%zu", &oracle_.topology.nodes, &oracle_.topology.per_node);
  }

  // Takes the values of a phase.
  void Fill(unsigned new_phase) {
    phase = new_phase;
    values_.clear();
    for (std::size_t i = 0; i < kCount; ++i) values_.push_back(ValueOf(rank_, i));
    MUST(cuMemcpyHtoD(from_, values_.data(), kCount * sizeof(float)));
  }

  ncclResult_t Init(const ncclConfig_t* config = nullptr) {
    const ncclUniqueId id = NextId();
    shrink::vote::Id bytes;
    std::memcpy(bytes.data(), id.internal, bytes.size());
    oracle_.Begin(shrink::library::SeedOf(bytes));
    if (config == nullptr) return ncclCommInitRank(&comm_, ranks_, id, rank_);
    ncclConfig_t own = *config;
    return ncclCommInitRankConfig(&comm_, ranks_, id, rank_, &own);
  }

  // Makes a communicator of the ranks of this rank's node.
  ncclResult_t InitWithinNode() {
    const int per_node = static_cast<int>(oracle_.topology.per_node);
    const std::string path = ids_ + ".node" + std::to_string(rank_ / per_node);
    return ncclCommInitRank(&comm_, per_node, Share(ncclGetUniqueId, path, rank_ % per_node),
                            rank_ % per_node);
  }

  // Reduces out of place, and says what came.
  void Sum(const std::string& what, ncclComm_t comm, int ranks, ncclRedOp_t op = ncclSum,
           std::size_t count = kCount) {
    MUST(cuMemsetD32(to_, 0, kCount));
    MUST(cuCtxSynchronize());
    ncclResult_t result = ncclAllReduce(Floats(from_), Floats(to_), count, ncclFloat32, op, comm, stream_);
    result = AwaitProgress(comm, result);
    if (result == ncclSuccess) result = Settle(comm, stream_);
    Step(what + " " + WordFor(to_, count, ranks, op), result);
  }

  // Reduces in a group: one buffer out of place and one in place, on two streams, beside a small call.
  void Group() {
    MUST(cuMemcpyHtoD(more_, values_.data(), kCount * sizeof(float)));
    MUST(cuMemsetD32(to_, 0, kCount));
    CUdeviceptr small = 0;
    MUST(cuMemAlloc(&small, 4));
    MUST(cuMemsetD32(small, static_cast<unsigned>(rank_ + 1), 1));
    MUST(cuCtxSynchronize());
    MUST(ncclGroupStart());
    MUST(ncclGroupStart());
    MUST(ncclAllReduce(Floats(from_), Floats(to_), kCount, ncclFloat32, ncclSum, comm_, stream_));
    MUST(ncclAllReduce(Floats(small), Floats(small), 1, ncclInt32, ncclSum, comm_, stream_));
    MUST(ncclGroupEnd());
    MUST(ncclAllReduce(Floats(more_), Floats(more_), kCount, ncclFloat32, ncclSum, comm_, other_));
    ncclResult_t result = ncclGroupEnd();
    if (result == ncclSuccess) result = Settle(comm_, stream_);
    if (result == ncclSuccess) result = Settle(comm_, other_);
    int sum = 0;
    MUST(cuMemcpyDtoH(&sum, small, sizeof sum));
    Step("small " + std::string(sum == ranks_ * (ranks_ + 1) / 2 ? "right" : "wrong"), result);
    Step("first " + WordFor(to_, kCount, ranks_, ncclSum), result);
    Step("second " + WordFor(more_, kCount, ranks_, ncclSum), result);
  }

  // Says a number that differs if any bit of the last result does.
  void Bits() {
    std::vector<std::uint32_t> got(kCount);
    MUST(cuMemcpyDtoH(got.data(), to_, kCount * sizeof(float)));
    std::uint64_t hash = 0;
    for (const std::uint32_t bits : got) hash = shrink::Mix(hash ^ bits);
    Say("bits " + std::to_string(hash));
  }

  // Says the errors that so many samples of the send buffer have, by the codec's own functions: of bf16 and
  // of q8, as parts of the squares of the values, and how many buckets are not finite.
  void Errors(std::uint64_t samples) {
    std::vector<std::uint8_t> bytes(shrink::EncodedBytes(kCount, shrink::kQ8.bits, shrink::kQ8.bucket));
    std::vector<float> decoded(kCount);
    shrink::ErrorSums sums{};
    for (std::uint64_t mark = 1; mark <= samples; ++mark) {
      shrink::Encode(values_.data(), kCount, shrink::kQ8, shrink::library::DrawOfSample(mark), bytes.data(),
                     bytes.size());
      shrink::Decode(bytes.data(), bytes.size(), kCount, shrink::kQ8, decoded.data());
      for (std::size_t i = 0; i < kCount; ++i) {
        const float value = values_[i];
        if (i % shrink::kQ8.bucket == 0 && shrink::IsNaN(decoded[i])) ++sums.not_finite;
        if (shrink::IsNaN(decoded[i])) continue;
        shrink::Add({shrink::SquaredError(shrink::FromBf16(shrink::ToBf16(value)), value),
                     shrink::SquaredError(decoded[i], value), double{value} * value, 0},
                    sums);
      }
    }
    char line[128];
    std::snprintf(line, sizeof line, "errors %.9e %.9e %llu", sums.bf16 / sums.squares,
                  sums.q8 / sums.squares, static_cast<unsigned long long>(sums.not_finite));
    Say(line);
  }

  // Reduces so often that plans change, and says the bits of each plan behind its last call.
  void Plans(int calls) {
    std::string bits;
    Fill(1);
    for (int call = 0; call < calls; ++call) {
      if (call == 100) Fill(6);
      Sum("sum", comm_, ranks_, ncclSum, kPlanned);
      if (bits != oracle_.Bits() && call > 0) Say("plan " + bits);
      bits = oracle_.Bits();
    }
    Say("plan " + bits);
  }

  // Reduces with more counts than plans have room for.
  void Counts(std::size_t counts) {
    for (std::size_t i = 0; i < counts; ++i) Sum("sum", comm_, ranks_, ncclSum, kLeast + i);
  }

  void Split(bool in_group) {
    ncclComm_t child = nullptr;
    if (in_group) MUST(ncclGroupStart());
    ncclResult_t result = ncclCommSplit(comm_, 0, rank_, &child, nullptr);
    if (in_group && result == ncclSuccess) result = ncclGroupEnd();
    Step("split", result);
    Sum("sum", child, ranks_);
    Step("destroy", ncclCommDestroy(child));
  }

  void Captured() {
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    MUST(cuMemsetD32(to_, 0, kCount));
    MUST(cuCtxSynchronize());
    MUST(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(ncclAllReduce(Floats(from_), Floats(to_), kCount, ncclFloat32, ncclSum, comm_, stream_));
    MUST(cuStreamEndCapture(stream_, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, stream_));
    Step("captured " + WordFor(to_, kCount, ranks_, ncclSum), Settle(comm_, stream_));
  }

  void Destroy() { Step("destroy", ncclCommDestroy(comm_)); }
  ncclComm_t comm() const { return comm_; }
  int ranks() const { return ranks_; }

 private:
  static float* Floats(CUdeviceptr memory) { return reinterpret_cast<float*>(memory); }

  // Waits for the work on a stream, and returns what became of it.
  static ncclResult_t Settle(ncclComm_t comm, CUstream stream) {
    const CUresult done = cuStreamSynchronize(stream);
    ncclResult_t state = ncclSuccess;
    MUST(ncclCommGetAsyncError(comm, &state));
    if (state != ncclSuccess) std::fprintf(stderr, "%s\n", ncclGetLastError(comm));
    return state == ncclSuccess && done != CUDA_SUCCESS ? ncclUnhandledCudaError : state;
  }

  // Calls that are narrowed have to be asked for in their order.
  std::string WordFor(CUdeviceptr memory, std::size_t count, int ranks, ncclRedOp_t op) {
    std::vector<float> got(count);
    if (cuMemcpyDtoH(got.data(), memory, count * sizeof(float)) != CUDA_SUCCESS) return "lost";
    const float divisor = op == ncclAvg ? static_cast<float>(ranks) : 1;
    if (exchanges_ && count >= kLeast &&
        IsBitForBit(got, oracle_.Sum(AllValues(oracle_.topology.ranks(), count), divisor))) {
      oracle_.Accept(count);
      return "narrow";
    }
    if (!exchanges_ && IsAll(got, ranks, As::kNarrow, divisor)) return "narrow";
    return IsAll(got, ranks, As::kPlain, divisor) ? "plain" : "other";
  }

  // Returns the next unique ID, by a file of its own.
  ncclUniqueId NextId() {
    const std::string path = ids_ + (made_ == 0 ? "" : "." + std::to_string(made_));
    ++made_;
    return Share(ncclGetUniqueId, path, rank_);
  }

  const int rank_;
  const int ranks_;
  const std::string ids_;
  int made_ = 0;
  ncclComm_t comm_ = nullptr;
  CUstream stream_ = nullptr, other_ = nullptr;
  CUdeviceptr from_ = 0, to_ = 0, more_ = 0;
  std::vector<float> values_;
  bool exchanges_ = false;
  shrink::Oracle oracle_;
};

// Makes one communicator more, in the order of the scenario "again".
void Again(Rank& rank) {
  rank.Sum("sum", rank.comm(), rank.ranks());
  rank.Destroy();
  Step("init", rank.Init());
  rank.Sum("sum", rank.comm(), rank.ranks());
}

void Kinds(Rank& rank) {
  rank.Sum("sum", rank.comm(), rank.ranks());
  rank.Sum("average", rank.comm(), rank.ranks(), ncclAvg);
  rank.Sum("few", rank.comm(), rank.ranks(), ncclSum, 65'535);
  rank.Sum("enough", rank.comm(), rank.ranks(), ncclSum, 65'536);
  rank.Group();
  rank.Captured();
  rank.Sum("sum", rank.comm(), rank.ranks());
}

void Play(const std::string& scenario, Rank& rank) {
  if (scenario == "node_first") {
    Step("init", rank.InitWithinNode());
    rank.Destroy();
  }
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  if (scenario == "grouped") MUST(ncclGroupStart());
  if (scenario == "not_blocking") config.blocking = 0;
  ncclResult_t result = rank.Init(scenario == "not_blocking" || scenario == "config" ? &config : nullptr);
  if (scenario == "grouped") result = ncclGroupEnd();
  Step("init", AwaitProgress(rank.comm(), result));
  if (scenario == "again") return Again(rank);
  if (scenario == "kinds") return Kinds(rank);
  if (scenario.starts_with("plans")) return rank.Plans(std::atoi(scenario.c_str() + 5));
  if (scenario.starts_with("counts")) return rank.Counts(std::stoul(scenario.substr(6)));
  if (scenario == "split" || scenario == "split_in_group") return rank.Split(scenario == "split_in_group");
  rank.Sum("sum", rank.comm(), rank.ranks());
  const bool thrice = scenario == "thrice" || scenario == "errors";
  for (int more = 0; thrice && more < 2; ++more) rank.Sum("sum", rank.comm(), rank.ranks());
  if (scenario == "errors") rank.Errors(3);
  if (scenario == "bits") rank.Bits();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::fprintf(stderr, "expected SCENARIO RANK RANKS IDS, got %d arguments\n", count - 1);
    return 2;
  }
  Rank rank(std::atoi(arguments[2]), std::atoi(arguments[3]), arguments[4]);
  Play(arguments[1], rank);
  rank.Destroy();
  return 0;
}
