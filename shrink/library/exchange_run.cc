#include "shrink/library/exchange_run.h"

#include "shrink/kernels/q8_threads.h"
#include "shrink/library/eligible.h"

namespace crossover::shrink::library {
namespace {

using hooks::kNcclSuccess;

const void* In(CUdeviceptr address) { return reinterpret_cast<const void*>(address); }
void* Out(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// A PlanParameters has what kernels have to know of a plan.
struct PlanParameters {
  explicit PlanParameters(const Plan& plan)
      : pieces(plan.is_there() ? plan.pieces_on_gpu() : 0),
        per_chunk(plan.pieces.per_chunk),
        length(plan.pieces.length) {}
  CUdeviceptr pieces;
  std::uint64_t per_chunk, length;
};

// A Run is one call. The sums of a shard lie in the receive buffer. Of the codes, each node has a place
// twice: for what it is sent and then for all sums, and for what it receives.
class Run {
 public:
  Run(const Setting& setting, Buffer& buffer, const Step& step, const Plan& plan)
      : nccl_(setting.nccl),
        setting_(setting),
        position_(setting.position),
        buffer_(buffer),
        step_(step),
        plan_(plan),
        share_(ShareOf(step.count, setting.position)),
        codes_(buffer.At(step.offset)),
        received_(codes_ + position_.nodes * share_.room) {}

  NcclResult Go() {
    if (buffer_.Follow(step_.stream) != CUDA_SUCCESS) return kNcclUnhandledCudaError;
    if (!CopyPlan()) return kNcclUnhandledCudaError;
    NcclResult result = ReduceWithinNode();
    if (result == kNcclSuccess && !Encode()) result = kNcclUnhandledCudaError;
    if (result == kNcclSuccess) result = SendToOwners();
    if (result == kNcclSuccess && !(Sum() && AddErrors())) result = kNcclUnhandledCudaError;
    if (result == kNcclSuccess) result = SendSums();
    if (result == kNcclSuccess && !(Decode() && KeepErrors())) result = kNcclUnhandledCudaError;
    if (result == kNcclSuccess) result = GatherWithinNode();
    if (result != kNcclSuccess) return result;
    return buffer_.Finish(step_.stream) == CUDA_SUCCESS ? kNcclSuccess : kNcclUnhandledCudaError;
  }

 private:
  bool IsAlone() const { return position_.per_node == 1; }
  // Returns the address of an element of the call.
  static CUdeviceptr Element(CUdeviceptr buffer, std::uint64_t element) {
    return buffer + element * sizeof(float);
  }
  // Returns where the sums of the node lie, which are the rank's own values if it is alone there.
  CUdeviceptr Values() const { return Element(IsAlone() ? step_.send : step_.receive, share_.begin); }
  std::uint64_t CodesOf(std::uint32_t node) const {
    return plan_.is_there() ? CodesOfChunk(plan_.pieces, share_, node, *plan_.kind)
                            : EncodedBytes(share_.chunks.Size(node), kQ8.bits, kQ8.bucket);
  }
  // Returns the address of what the owner of a chunk says of its errors.
  CUdeviceptr SaidBy(std::uint32_t node) const {
    return plan_.said_on_gpu() + node * plan_.pieces.per_chunk * sizeof(double);
  }
  std::uint64_t Key(unsigned step) const {
    const Draw draw{setting_.rounding.seed,
                    CallOf(setting_.rounding, position_.ranks(), position_.rank(), step), 0};
    return KeyOf(draw);
  }
  // The last parameters are those of the plan, which kernels with 8 bits do not read.
  bool Launch(Kernel with_8_bits, Kernel planned, std::uint64_t count, void** parameters) {
    if (count == 0) return true;
    const std::uint64_t blocks = (BucketsOf(count) + kBucketsAtOnce - 1) / kBucketsAtOnce;
    return buffer_.Launch(plan_.is_there() ? planned : with_8_bits, blocks, parameters, step_.stream) ==
           CUDA_SUCCESS;
  }

  // Copies what has changed of the plan. Nothing that is queued still reads the memory of the host: behind
  // the copy before, the host has waited for a later event of this kind.
  bool CopyPlan() {
    if (plan_.copy == Plan::Copy::kNothing) return true;
    const std::size_t bytes = plan_.copy == Plan::Copy::kAll ? sizeof(KindMemory) : sizeof plan_.kind->pieces;
    return DriverOf(Way::kPast)->MemcpyHtoDAsync(plan_.on_gpu, plan_.kind, bytes, step_.stream) ==
           CUDA_SUCCESS;
  }

  // Each rank of a node gets the sum of its shard. The first shard is never empty.
  NcclResult ReduceWithinNode() {
    if (IsAlone()) return kNcclSuccess;
    InnerGroup group(nccl_);
    for (std::uint32_t place = 0; place < position_.per_node && group.Goes(); ++place) {
      const std::uint64_t begin = share_.shards.Begin(place), size = share_.shards.Size(place);
      if (size == 0) continue;
      const auto reduce = place == 0 && setting_.marked ? nccl_.marked_reduce : nccl_.reduce;
      group.Add(reduce(In(Element(step_.send, begin)), Out(Element(step_.receive, begin)), size, kFloat32,
                       kSum, static_cast<int>(place), setting_.of_node, step_.stream));
    }
    return group.End();
  }

  bool Encode() {
    CUdeviceptr values = Values(), codes = codes_;
    std::uint64_t first = share_.begin, count = share_.chunks.count, chunk = share_.chunks.length,
                  room = share_.room, key = Key(0), own = position_.node;
    PlanParameters plan(plan_);
    void* parameters[] = {&values, &codes, &first,       &count,          &chunk,      &room,
                          &key,    &own,   &plan.pieces, &plan.per_chunk, &plan.length};
    return Launch(Kernel::kEncode, Kernel::kEncodePlanned, count, parameters);
  }

  // Returns how many bytes of the codes of a chunk go ahead, if there is a plan: as many as no plan changes.
  std::uint64_t HeadOf(std::uint32_t chunk) const {
    return plan_.is_there() ? EncodedBytes(share_.chunks.Size(chunk), kLeastBits, kQ8.bucket)
                            : CodesOf(chunk);
  }
  // Sends or receives the codes of a chunk from `at` on. The first `head` bytes are a call of their own, by
  // `first`.
  template <class Transfer, class Address>
  void Move(InnerGroup& group, Transfer first, Transfer rest, std::uint64_t head, Address* at,
            std::uint32_t chunk, std::uint32_t peer) {
    const auto rank = static_cast<int>(peer);
    if (head > 0) group.Add(first(at, head, kInt8, rank, setting_.of_place, step_.stream));
    if (CodesOf(chunk) > head && group.Goes())
      group.Add(rest(at + head, CodesOf(chunk) - head, kInt8, rank, setting_.of_place, step_.stream));
  }

  // Each owner of a chunk gets the codes of all other nodes for it. What goes to the first node, or comes to
  // it, is the first call of each rank. Its head has the same size on all and with all plans, and it is never
  // empty in the first shard. So libcrossover.so, which sees that call alone, sees the same call each time.
  NcclResult SendToOwners() {
    const bool marks = setting_.marked && IsAlone();
    InnerGroup group(nccl_);
    for (std::uint32_t owner = 0; owner < position_.nodes && group.Goes(); ++owner) {
      if (CodesOf(owner) == 0) continue;
      const std::uint64_t head = marks && owner == 0 ? HeadOf(owner) : 0;
      if (owner != position_.node) {
        Move(group, nccl_.marked_send, nccl_.send, head,
             static_cast<const char*>(In(codes_ + owner * share_.room)), owner, owner);
        continue;
      }
      for (std::uint32_t node = 0; node < position_.nodes && group.Goes(); ++node) {
        if (node == owner) continue;
        Move(group, node == 1 ? nccl_.marked_recv : nccl_.recv, nccl_.recv, head,
             static_cast<char*>(Out(received_ + node * share_.room)), owner, node);
      }
    }
    return group.End();
  }

  bool Sum() {
    const std::uint64_t begin = share_.chunks.Begin(position_.node);
    CUdeviceptr own = Element(Values(), begin), sum = Element(step_.receive, share_.begin + begin),
                codes = received_, code = codes_ + position_.node * share_.room;
    std::uint64_t first = share_.begin + begin, count = share_.chunks.Size(position_.node),
                  room = share_.room, key = Key(1), nodes = position_.nodes, node = position_.node;
    PlanParameters plan(plan_);
    void* parameters[] = {&own, &sum,   &codes, &code,        &first,          &count,      &room,
                          &key, &nodes, &node,  &plan.pieces, &plan.per_chunk, &plan.length};
    return Launch(Kernel::kEncodeSum, Kernel::kEncodeSumPlanned, count, parameters);
  }

  // Adds the errors of this call's codes to those of the own chunk's pieces. If this call says them, they go
  // to where all ranks have them.
  bool AddErrors() {
    std::uint64_t count = share_.chunks.Size(position_.node);
    if (!plan_.is_there() || count == 0) return true;
    CUdeviceptr codes = received_, code = codes_ + position_.node * share_.room,
                errors = plan_.errors_on_gpu(), said = plan_.says_errors ? SaidBy(position_.node) : 0;
    std::uint64_t room = share_.room, nodes = position_.nodes, node = position_.node;
    PlanParameters plan(plan_);
    void* parameters[] = {&codes, &code, &errors,      &said,           &count,      &room,
                          &nodes, &node, &plan.pieces, &plan.per_chunk, &plan.length};
    const std::uint64_t blocks = (plan_.pieces.per_chunk + kBucketsAtOnce - 1) / kBucketsAtOnce;
    return buffer_.Launch(Kernel::kStatistics, blocks, parameters, step_.stream) == CUDA_SUCCESS;
  }

  // Adds what an owner says of its errors to a group that moves the code of its sum.
  void MoveErrors(InnerGroup& group, std::uint32_t peer) {
    const std::uint64_t bytes = plan_.pieces.per_chunk * sizeof(double);
    const auto rank = static_cast<int>(peer);
    if (CodesOf(position_.node) > 0 && group.Goes())
      group.Add(nccl_.send(In(SaidBy(position_.node)), bytes, kInt8, rank, setting_.of_place, step_.stream));
    if (CodesOf(peer) > 0 && group.Goes())
      group.Add(nccl_.recv(Out(SaidBy(peer)), bytes, kInt8, rank, setting_.of_place, step_.stream));
  }

  // Copies what all owners have said to the host.
  bool KeepErrors() {
    if (!plan_.says_errors) return true;
    const Driver* driver = DriverOf(Way::kPast);
    const std::size_t bytes = position_.nodes * plan_.pieces.per_chunk * sizeof(double);
    return driver->MemcpyDtoHAsync(plan_.kind->said, plan_.said_on_gpu(), bytes, step_.stream) ==
               CUDA_SUCCESS &&
           driver->EventRecord(plan_.said, step_.stream) == CUDA_SUCCESS;
  }

  // Each owner sends the code of its sum to all other nodes.
  NcclResult SendSums() {
    InnerGroup group(nccl_);
    for (std::uint32_t node = 0; node < position_.nodes && group.Goes(); ++node) {
      if (node == position_.node) continue;
      if (plan_.says_errors) MoveErrors(group, node);
      const int peer = static_cast<int>(node);
      if (CodesOf(position_.node) > 0)
        group.Add(nccl_.send(In(codes_ + position_.node * share_.room), CodesOf(position_.node), kInt8, peer,
                             setting_.of_place, step_.stream));
      if (CodesOf(node) > 0 && group.Goes())
        group.Add(nccl_.recv(Out(codes_ + node * share_.room), CodesOf(node), kInt8, peer, setting_.of_place,
                             step_.stream));
    }
    return group.End();
  }

  bool Decode() {
    CUdeviceptr codes = codes_, values = Element(step_.receive, share_.begin);
    std::uint64_t count = share_.chunks.count, chunk = share_.chunks.length, room = share_.room,
                  divisor = step_.divisor;
    PlanParameters plan(plan_);
    void* parameters[] = {&codes,   &values,      &count,          &chunk,      &room,
                          &divisor, &plan.pieces, &plan.per_chunk, &plan.length};
    return Launch(Kernel::kDecode, Kernel::kDecodePlanned, count, parameters);
  }

  // Each rank of a node gets the results of all shards.
  NcclResult GatherWithinNode() {
    if (IsAlone()) return kNcclSuccess;
    InnerGroup group(nccl_);
    for (std::uint32_t place = 0; place < position_.per_node && group.Goes(); ++place) {
      const CUdeviceptr shard = Element(step_.receive, share_.shards.Begin(place));
      const std::uint64_t size = share_.shards.Size(place);
      if (size > 0)
        group.Add(nccl_.broadcast(In(shard), Out(shard), size, kFloat32, static_cast<int>(place),
                                  setting_.of_node, step_.stream));
    }
    return group.End();
  }

  const InnerNccl& nccl_;
  const Setting& setting_;
  const Position& position_;
  Buffer& buffer_;
  const Step& step_;
  const Plan& plan_;
  const Share share_;
  const CUdeviceptr codes_;
  const CUdeviceptr received_;
};

}  // namespace

NcclResult RunExchange(const Setting& setting, Buffer& buffer, const Step& step, const Plan& plan) {
  return Run(setting, buffer, step, plan).Go();
}

}  // namespace crossover::shrink::library
