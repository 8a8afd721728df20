#include "shrink/library/exchange_run.h"

#include "shrink/kernels/q8_threads.h"
#include "shrink/library/eligible.h"

namespace crossover::shrink::library {
namespace {

using hooks::kNcclSuccess;

const void* In(CUdeviceptr address) { return reinterpret_cast<const void*>(address); }
void* Out(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// A Run is one call. The sums of a shard lie in the receive buffer. Of the codes, each node has a place
// twice: for what it is sent and then for all sums, and for what it receives.
class Run {
 public:
  Run(const Setting& setting, Buffer& buffer, const Step& step)
      : nccl_(setting.nccl),
        setting_(setting),
        position_(setting.position),
        buffer_(buffer),
        step_(step),
        share_(ShareOf(step.count, setting.position)),
        codes_(buffer.At(step.offset)),
        received_(codes_ + position_.nodes * share_.room) {}

  NcclResult Go() {
    if (buffer_.Follow(step_.stream) != CUDA_SUCCESS) return kNcclUnhandledCudaError;
    NcclResult result = ReduceWithinNode();
    if (result == kNcclSuccess && !Encode()) result = kNcclUnhandledCudaError;
    if (result == kNcclSuccess) result = SendToOwners();
    if (result == kNcclSuccess && !Sum()) result = kNcclUnhandledCudaError;
    if (result == kNcclSuccess) result = SendSums();
    if (result == kNcclSuccess && !Decode()) result = kNcclUnhandledCudaError;
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
  std::uint64_t CodesOf(std::uint64_t node) const {
    return EncodedBytes(share_.chunks.Size(node), kQ8.bits, kQ8.bucket);
  }
  std::uint64_t Key(unsigned step) const {
    const Draw draw{setting_.rounding.seed,
                    CallOf(setting_.rounding, position_.ranks(), position_.rank(), step), 0};
    return KeyOf(draw);
  }
  bool Launch(Kernel kernel, std::uint64_t count, void** parameters) {
    if (count == 0) return true;
    const std::uint64_t blocks = (BucketsOf(count) + kBucketsAtOnce - 1) / kBucketsAtOnce;
    return buffer_.Launch(kernel, blocks, parameters, step_.stream) == CUDA_SUCCESS;
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
    void* parameters[] = {&values, &codes, &first, &count, &chunk, &room, &key, &own};
    return Launch(Kernel::kEncode, count, parameters);
  }

  // Each owner of a chunk gets the codes of all other nodes for it. What goes to the first node, or comes to
  // it, is the first call of each rank. It has the same size on all, and it is never empty in the first
  // shard.
  NcclResult SendToOwners() {
    const bool marks = setting_.marked && IsAlone();
    InnerGroup group(nccl_);
    for (std::uint32_t owner = 0; owner < position_.nodes && group.Goes(); ++owner) {
      const std::uint64_t bytes = CodesOf(owner);
      if (bytes == 0) continue;
      if (owner != position_.node) {
        const auto send = marks && owner == 0 ? nccl_.marked_send : nccl_.send;
        group.Add(send(In(codes_ + owner * share_.room), bytes, kInt8, static_cast<int>(owner),
                       setting_.of_place, step_.stream));
        continue;
      }
      for (std::uint32_t node = 0; node < position_.nodes && group.Goes(); ++node) {
        if (node == owner) continue;
        const auto receive = marks && owner == 0 && node == 1 ? nccl_.marked_recv : nccl_.recv;
        group.Add(receive(Out(received_ + node * share_.room), bytes, kInt8, static_cast<int>(node),
                          setting_.of_place, step_.stream));
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
    void* parameters[] = {&own, &sum, &codes, &code, &first, &count, &room, &key, &nodes, &node};
    return Launch(Kernel::kEncodeSum, count, parameters);
  }

  // Each owner sends the code of its sum to all other nodes.
  NcclResult SendSums() {
    InnerGroup group(nccl_);
    for (std::uint32_t node = 0; node < position_.nodes && group.Goes(); ++node) {
      if (node == position_.node) continue;
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
    void* parameters[] = {&codes, &values, &count, &chunk, &room, &divisor};
    return Launch(Kernel::kDecode, count, parameters);
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
  const Share share_;
  const CUdeviceptr codes_;
  const CUdeviceptr received_;
};

}  // namespace

NcclResult RunExchange(const Setting& setting, Buffer& buffer, const Step& step) {
  return Run(setting, buffer, step).Go();
}

}  // namespace crossover::shrink::library
