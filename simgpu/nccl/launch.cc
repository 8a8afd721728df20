// Puts calls on streams: staging copies around a kernel that holds SMs until the engine has moved the data.
// simgpu/replay/capture.cc does that for streams that are being captured.
#include <algorithm>

#include "simgpu/machine/machine.h"
#include "simgpu/nccl/comm.h"
#include "simgpu/nccl/log.h"
#include "simgpu/nccl/profiler.h"
#include "simgpu/nccl/try.h"

using simgpu::nccl::PendingCall;
using simgpu::nccl::Refuse;
using simgpu::nccl::SizeOf;
using simgpu::nccl::Staging;
using simgpu::nccl::Task;

namespace {

CUdeviceptr Address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// Returns the streams of the calls, in the order of their first use.
std::vector<CUstream> StreamsOf(const std::vector<PendingCall>& calls) {
  std::vector<CUstream> streams;
  for (const PendingCall& call : calls) {
    if (std::find(streams.begin(), streams.end(), call.stream) == streams.end())
      streams.push_back(call.stream);
  }
  return streams;
}

// Returns whether a call that moves so many bytes takes its time alone. All ranks of a call get the same
// answer.
bool IsHollow(std::uint64_t bytes) {
  return bytes >= simgpu::Machine::Get()->config().hollow_collectives_from;
}

// Returns the bytes of staging of a Send or Recv, a multiple of 16.
std::uint64_t StagedBytes(const simgpu::nccl::Call& call) {
  const std::uint64_t bytes = call.count * SizeOf(call.type);
  return IsHollow(bytes) ? 0 : (bytes + 15) / 16 * 16;
}

}  // namespace

ncclResult_t ncclComm::Check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return ncclSuccess;
  return Refuse(ncclUnhandledCudaError, simgpu::nccl::DriverError(driver(), what, result));
}

ncclResult_t ncclComm::Launch(const std::vector<PendingCall>& calls) {
  const simgpu::nccl::ScopedContext scope(driver(), context());
  const auto streams = StreamsOf(calls);
  std::uint64_t capture = 0;
  SIMGPU_NCCL_TRY(FindCapture(streams, &capture));
  if (ranks_ == 1) return LaunchAlone(calls);
  if (const auto failure = engine_->failure(); failure.result != ncclSuccess) {
    return Refuse(failure.result, failure.text);
  }
  if (capture != 0) return Capture(calls, streams, capture);
  SIMGPU_NCCL_TRY(JoinStreams(streams));
  SIMGPU_NCCL_TRY(LaunchCalls(calls, streams.back()));
  return PartStreams(streams);
}

ncclResult_t ncclComm::LaunchCalls(const std::vector<PendingCall>& calls, CUstream stream) {
  std::vector<PendingCall> transfers;
  for (const PendingCall& pending : calls) {
    if (IsPointToPoint(pending.call.function)) {
      transfers.push_back(pending);
    } else {
      SIMGPU_NCCL_TRY(LaunchRing(pending, stream));
    }
  }
  return transfers.empty() ? ncclSuccess : LaunchTransfers(transfers, stream);
}

// Makes the last stream wait for the user's earlier work on the other streams. The kernels of a group run
// on the last stream.
ncclResult_t ncclComm::JoinStreams(const std::vector<CUstream>& streams) {
  const CUstream last = streams.back();
  std::string error;
  for (const CUstream other : streams) {
    if (other == last) continue;
    Staging* mark = device_->Acquire(1, &error);
    if (mark == nullptr) return Refuse(ncclUnhandledCudaError, error);
    SIMGPU_NCCL_TRY(Check(driver().cuEventRecord(mark->done, other), "cuEventRecord"));
    SIMGPU_NCCL_TRY(Check(driver().cuStreamWaitEvent(last, mark->done, 0), "cuStreamWaitEvent"));
  }
  if (replays_.order() != nullptr) {
    SIMGPU_NCCL_TRY(Check(driver().cuStreamWaitEvent(last, replays_.order(), 0), "cuStreamWaitEvent"));
  } else if (last_event_ != nullptr && last_stream_ != last) {
    SIMGPU_NCCL_TRY(Check(driver().cuStreamWaitEvent(last, last_event_, 0), "cuStreamWaitEvent"));
  }
  return ncclSuccess;
}

// Makes later work on the other streams wait for the kernels.
ncclResult_t ncclComm::PartStreams(const std::vector<CUstream>& streams) {
  for (const CUstream other : streams) {
    if (other == streams.back()) continue;
    SIMGPU_NCCL_TRY(Check(driver().cuStreamWaitEvent(other, last_event_, 0), "cuStreamWaitEvent"));
  }
  return ncclSuccess;
}

ncclResult_t ncclComm::LaunchRing(const PendingCall& pending, CUstream stream) {
  const simgpu::nccl::Call call = peers_ ? peers_->Thinned(pending.call) : pending.call;
  const auto plan = MakePlan(call, rank_, ranks_);
  std::string error;
  if (peers_) SIMGPU_NCCL_TRY(TellPeers(pending, call, stream));
  const bool hollow = !peers_ && IsHollow(std::max(SendBytes(call, ranks_), RecvBytes(call, ranks_)));
  Staging* staging = AcquireStaging(hollow ? 0 : plan.staging_bytes, &error);
  if (staging == nullptr) return Refuse(ncclUnhandledCudaError, error);
  if (plan.input.bytes > 0 && !hollow) {
    SIMGPU_NCCL_TRY(Check(driver().cuMemcpyDtoHAsync(staging->host + plan.input.offset, Address(pending.send),
                                                     plan.input.bytes, stream),
                          "cuMemcpyDtoHAsync"));
  }
  auto task = std::make_unique<Task>();
  task->ring = call;
  task->asked = pending.call.count;
  task->staging = staging->host;
  task->hollow = hollow;
  SIMGPU_NCCL_TRY(Submit(std::move(task), std::span(&pending, 1), staging, stream));
  if (plan.output.bytes > 0 && !hollow) {
    SIMGPU_NCCL_TRY(
        Check(driver().cuMemcpyHtoDAsync(Address(pending.recv), staging->host + plan.output.offset,
                                         plan.output.bytes, stream),
              "cuMemcpyHtoDAsync"));
  }
  if (peers_) SIMGPU_NCCL_TRY(MirrorPeers(pending, stream));
  return Record(staging, stream);
}

// Tells the peers to make the thinned call. Copies to recvbuff first, because not all of it goes over the
// links: the peers would have added zeros to the rest.
ncclResult_t ncclComm::TellPeers(const PendingCall& pending, const simgpu::nccl::Call& thinned,
                                 CUstream stream) {
  if (!peers_->Say(thinned)) return Refuse(ncclRemoteError, "a peer without a program is gone");
  if (thinned == pending.call || pending.send == pending.recv) return ncclSuccess;
  return Check(driver().cuMemcpyDtoDAsync(Address(pending.recv), Address(pending.send),
                                          SendBytes(pending.call, ranks_), stream),
               "cuMemcpyDtoDAsync");
}

// Fills in what the peers would have gathered with this rank's own data. Programs compare what all ranks
// gathered, such as the shapes of their models.
ncclResult_t ncclComm::MirrorPeers(const PendingCall& pending, CUstream stream) {
  if (pending.call.function != simgpu::nccl::Function::kAllGather) return ncclSuccess;
  const std::uint64_t bytes = pending.call.count * SizeOf(pending.call.type);
  for (int peer = 1; peer < ranks_; ++peer) {
    SIMGPU_NCCL_TRY(
        Check(driver().cuMemcpyDtoDAsync(Address(pending.recv) + static_cast<std::uint64_t>(peer) * bytes,
                                         Address(pending.recv), bytes, stream),
              "cuMemcpyDtoDAsync"));
  }
  return ncclSuccess;
}

ncclResult_t ncclComm::LaunchTransfers(const std::vector<PendingCall>& calls, CUstream stream) {
  if (peers_) return Refuse(ncclInvalidUsage, "peers without a program neither send nor receive");
  std::uint64_t bytes = 0;
  for (const PendingCall& pending : calls) bytes += StagedBytes(pending.call);
  std::string error;
  Staging* staging = AcquireStaging(bytes, &error);
  if (staging == nullptr) return Refuse(ncclUnhandledCudaError, error);
  auto task = std::make_unique<Task>();
  std::byte* next = staging->host;
  for (const PendingCall& pending : calls) {
    const std::uint64_t size = pending.call.count * SizeOf(pending.call.type);
    task->transfers.push_back({pending.call, next, size, IsHollow(size)});
    if (pending.call.function == simgpu::nccl::Function::kSend && !IsHollow(size)) {
      SIMGPU_NCCL_TRY(
          Check(driver().cuMemcpyDtoHAsync(next, Address(pending.send), size, stream), "cuMemcpyDtoHAsync"));
    }
    next += StagedBytes(pending.call);
  }
  SIMGPU_NCCL_TRY(Submit(std::move(task), calls, staging, stream));
  next = staging->host;
  for (const PendingCall& pending : calls) {
    const std::uint64_t size = pending.call.count * SizeOf(pending.call.type);
    if (pending.call.function == simgpu::nccl::Function::kRecv && !IsHollow(size)) {
      SIMGPU_NCCL_TRY(
          Check(driver().cuMemcpyHtoDAsync(Address(pending.recv), next, size, stream), "cuMemcpyHtoDAsync"));
    }
    next += StagedBytes(pending.call);
  }
  return Record(staging, stream);
}

Staging* ncclComm::AcquireStaging(std::size_t bytes, std::string* error) {
  return replays_.capturing() ? replays_.Keep(*device_, bytes, error) : device_->Acquire(bytes, error);
}

ncclResult_t ncclComm::Submit(std::unique_ptr<Task> task, std::span<const PendingCall> calls,
                              Staging* staging, CUstream stream) {
  if (replays_.capturing()) {
    const simgpu::nccl::KernelStart start = replays_.Add(std::move(task), staging, engine_.get());
    return Check(device_->LaunchKernel(calls.front().call, start, stream), "kernel launch");
  }
  const std::uint32_t number = engine_->Submit(std::move(task));
  if (number == 0) {
    const auto failure = engine_->failure();
    return Refuse(failure.result, failure.text);
  }
  const ncclResult_t launched =
      Check(device_->LaunchKernel(calls.front().call,
                                  {engine_.get(), number, device_->done_word_on_device(), false}, stream),
            "kernel launch");
  // If the launch failed, the kernel of this task never begins.
  if (launched != ncclSuccess) engine_->Abort(launched, simgpu::nccl::LastError());
  if (launched == ncclSuccess && profiler_) profiler_->Launched(calls, device_->sms());
  return launched;
}

ncclResult_t ncclComm::Record(Staging* staging, CUstream stream) {
  if (replays_.capturing()) return ncclSuccess;  // Capture() records
  last_stream_ = stream;
  last_event_ = staging->done;
  if (replays_.order() != nullptr)
    SIMGPU_NCCL_TRY(Check(driver().cuEventRecord(replays_.order(), stream), "cuEventRecord"));
  return Check(driver().cuEventRecord(staging->done, stream), "cuEventRecord");
}

// Launches the calls of a communicator with one rank: copies, and no kernel.
ncclResult_t ncclComm::LaunchAlone(const std::vector<PendingCall>& calls) {
  std::vector<const PendingCall*> sends;
  std::vector<const PendingCall*> recvs;
  for (const PendingCall& pending : calls) {
    if (pending.call.function == simgpu::nccl::Function::kSend) {
      sends.push_back(&pending);
    } else if (pending.call.function == simgpu::nccl::Function::kRecv) {
      recvs.push_back(&pending);
    } else if (pending.send != pending.recv) {
      SIMGPU_NCCL_TRY(Check(driver().cuMemcpyDtoDAsync(Address(pending.recv), Address(pending.send),
                                                       RecvBytes(pending.call, 1), pending.stream),
                            "cuMemcpyDtoDAsync"));
    }
  }
  if (sends.size() != recvs.size()) {
    return Refuse(ncclInvalidUsage,
                  "a group sends to its own rank what it does not receive, or the other way round");
  }
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (sends[i]->call.count != recvs[i]->call.count || sends[i]->call.type != recvs[i]->call.type) {
      return Refuse(ncclInvalidUsage, "Send and Recv of a rank to itself differ: " +
                                          Describe(sends[i]->call) + ", " + Describe(recvs[i]->call));
    }
    SIMGPU_NCCL_TRY(Check(driver().cuMemcpyDtoDAsync(Address(recvs[i]->recv), Address(sends[i]->send),
                                                     SendBytes(sends[i]->call, 1), recvs[i]->stream),
                          "cuMemcpyDtoDAsync"));
  }
  return ncclSuccess;
}
