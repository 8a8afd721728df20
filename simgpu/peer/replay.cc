#include "simgpu/peer/replay.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdio>

namespace simgpu::peer {

namespace {

using nccl::Call;
using nccl::Function;

constexpr const char* kImage = "// simgpu 1\nkernel compute ns=arg sms=132\n";

// A Rank makes the calls of one communicator on the software GPU.
class Rank {
 public:
  explicit Rank(std::vector<Stretch> profile) : follower_(std::move(profile)) {}
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
  ~Rank() {
    if (comm_ != nullptr) ncclCommAbort(comm_);
    for (const CUdeviceptr buffer : {zeros_, result_}) {
      if (buffer != 0) cuMemFree(buffer);
    }
  }

  bool Join(const nccl::PeerHello& hello) {
    CUdevice device = 0;
    CUcontext context = nullptr;
    ranks_ = static_cast<std::uint64_t>(hello.ranks);
    return Ok(cuInit(0)) && Ok(cuDeviceGet(&device, 0)) && Ok(cuDevicePrimaryCtxRetain(&context, device)) &&
           Ok(cuCtxSetCurrent(context)) && Ok(cuModuleLoadData(&module_, kImage)) &&
           Ok(cuModuleGetFunction(&compute_, module_, "compute")) &&
           Ok(cuStreamCreate(&compute_stream_, CU_STREAM_NON_BLOCKING)) &&
           Ok(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING)) &&
           Ok(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING)) &&
           Ok(ncclCommInitRank(&comm_, hello.ranks, hello.id, hello.rank));
  }

  bool Make(const Call& call) {
    const Follower::Place place = follower_.Next(call);
    if (!MakeRoom(std::max<std::uint64_t>(call.count * nccl::SizeOf(call.type) * ranks_, 1))) return false;
    if (place.compute_ns > 0) {
      std::uint64_t ns = place.compute_ns;
      void* parameters[] = {&ns};
      if (!Ok(cuLaunchKernel(compute_, 1, 1, 1, 1, 1, 1, 0, compute_stream_, parameters, nullptr)))
        return false;
    }
    if (!Follows(stream_, compute_stream_) || !Ok(Launch(call))) return false;
    return !place.ends || Follows(compute_stream_, stream_);
  }

 private:
  bool Ok(CUresult result) {
    const char* name = "unknown error";
    if (result != CUDA_SUCCESS) cuGetErrorName(result, &name);
    if (result != CUDA_SUCCESS) std::fprintf(stderr, "nccl_peer: %s\n", name);
    return result == CUDA_SUCCESS;
  }

  bool Ok(ncclResult_t result) {
    if (result != ncclSuccess) std::fprintf(stderr, "nccl_peer: %s\n", ncclGetLastError(comm_));
    return result == ncclSuccess;
  }

  bool Follows(CUstream later, CUstream earlier) {
    return Ok(cuEventRecord(event_, earlier)) && Ok(cuStreamWaitEvent(later, event_, 0));
  }

  // Makes a buffer of zeros to send and a buffer for the result, which is never read. Each has room for
  // `bytes`.
  bool MakeRoom(std::uint64_t bytes) {
    if (bytes <= room_) return true;
    if (!Ok(cuStreamSynchronize(stream_))) return false;  // the old buffers may be in use
    for (CUdeviceptr* buffer : {&zeros_, &result_}) {
      if (*buffer != 0) cuMemFree(*buffer);
      *buffer = 0;
      if (!Ok(cuMemAlloc(buffer, bytes))) return false;
    }
    room_ = bytes;
    return Ok(cuMemsetD8(zeros_, 0, bytes));
  }

  ncclResult_t Launch(const Call& call) {
    void* const zeros = reinterpret_cast<void*>(zeros_);
    void* const result = reinterpret_cast<void*>(result_);
    switch (call.function) {
      case Function::kAllReduce:
        return ncclAllReduce(zeros, result, call.count, call.type, call.op, comm_, stream_);
      case Function::kBroadcast:
        return ncclBroadcast(zeros, result, call.count, call.type, call.root, comm_, stream_);
      case Function::kReduce:
        return ncclReduce(zeros, result, call.count, call.type, call.op, call.root, comm_, stream_);
      case Function::kAllGather:
        return ncclAllGather(zeros, result, call.count, call.type, comm_, stream_);
      case Function::kReduceScatter:
        return ncclReduceScatter(zeros, result, call.count, call.type, call.op, comm_, stream_);
      default:
        return ncclInvalidUsage;
    }
  }

  Follower follower_;
  std::uint64_t ranks_ = 1;
  CUmodule module_ = nullptr;
  CUfunction compute_ = nullptr;
  CUstream compute_stream_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent event_ = nullptr;
  ncclComm_t comm_ = nullptr;
  CUdeviceptr zeros_ = 0;
  CUdeviceptr result_ = 0;
  std::uint64_t room_ = 0;
};

template <typename T>
bool Receive(int fd, T* value) {
  return recv(fd, value, sizeof *value, 0) == static_cast<ssize_t>(sizeof *value);
}

}  // namespace

void Replay(nccl::UniqueFd socket, std::vector<Stretch> profile) {
  nccl::PeerHello hello;
  if (!Receive(socket.get(), &hello) || hello.magic != nccl::PeerHello::kMagic) return;
  Rank rank(std::move(profile));
  if (!rank.Join(hello)) return;
  Call call;
  while (Receive(socket.get(), &call) && rank.Make(call)) {
  }
}

}  // namespace simgpu::peer
