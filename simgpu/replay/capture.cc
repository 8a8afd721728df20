// Puts calls on streams that are being captured. NCCL's order holds in graphs as well: the kernels of a
// communicator run one after the other, in the order in which the host captured them or launched them, on
// every rank.
#include "simgpu/nccl/comm.h"
#include "simgpu/nccl/log.h"
#include "simgpu/nccl/try.h"

using simgpu::nccl::PendingCall;
using simgpu::nccl::Refuse;

namespace {

// Lets the calling thread allocate memory and ask events while a stream is captured.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const simgpu::nccl::Driver& driver) : driver_(driver) {
    driver_.cuThreadExchangeStreamCaptureMode(&mode_);
  }
  ~RelaxedCapture() { driver_.cuThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const simgpu::nccl::Driver& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace

ncclResult_t ncclComm::FindCapture(const std::vector<CUstream>& streams, std::uint64_t* capture) {
  *capture = 0;
  for (const CUstream stream : streams) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    SIMGPU_NCCL_TRY(Check(driver().cuStreamGetCaptureInfo(stream, &status, &id), "cuStreamGetCaptureInfo"));
    if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
      return Refuse(ncclInvalidUsage, "a stream has a capture that was invalidated");
    if (status == CU_STREAM_CAPTURE_STATUS_NONE) id = 0;
    if (stream == streams.front()) *capture = id;
    if (id != *capture) {
      return Refuse(ncclInvalidUsage,
                    "a group has streams of different captures, or a captured stream beside one that is not");
    }
  }
  return ncclSuccess;
}

ncclResult_t ncclComm::Capture(const std::vector<PendingCall>& calls, const std::vector<CUstream>& streams,
                               std::uint64_t capture) {
  if (peers_) return Refuse(ncclInvalidUsage, "peers without a program take no part in graphs");
  const RelaxedCapture relaxed(driver());
  SIMGPU_NCCL_TRY(Check(replays_.Prepare(driver(), last_event_), "events for graphs"));
  replays_.SetCapturing(true);
  const ncclResult_t result = CaptureInOrder(calls, streams, capture);
  replays_.SetCapturing(false);
  return result;
}

// Within a capture, a collective depends on the one before it. Each launch of the graph comes behind all
// kernels that the host launched before, and later kernels come behind it: that is what the external event is
// for.
ncclResult_t ncclComm::CaptureInOrder(const std::vector<PendingCall>& calls,
                                      const std::vector<CUstream>& streams, std::uint64_t capture) {
  const CUstream stream = streams.back();
  for (const CUstream other : streams) {
    if (other == stream) continue;
    SIMGPU_NCCL_TRY(Check(driver().cuEventRecord(replays_.mark(), other), "cuEventRecord"));
    SIMGPU_NCCL_TRY(Check(driver().cuStreamWaitEvent(stream, replays_.mark(), 0), "cuStreamWaitEvent"));
  }
  const bool first = !replays_.Continues(capture);
  SIMGPU_NCCL_TRY(Check(driver().cuStreamWaitEvent(stream, first ? replays_.order() : replays_.tail(),
                                                   first ? CU_EVENT_WAIT_EXTERNAL : CU_EVENT_WAIT_DEFAULT),
                        "cuStreamWaitEvent"));
  SIMGPU_NCCL_TRY(LaunchCalls(calls, stream));
  SIMGPU_NCCL_TRY(Check(driver().cuEventRecordWithFlags(replays_.order(), stream, CU_EVENT_RECORD_EXTERNAL),
                        "cuEventRecordWithFlags"));
  SIMGPU_NCCL_TRY(Check(driver().cuEventRecord(replays_.tail(), stream), "cuEventRecord"));
  replays_.Continue(capture);
  for (const CUstream other : streams) {
    if (other == stream) continue;
    SIMGPU_NCCL_TRY(Check(driver().cuStreamWaitEvent(other, replays_.tail(), 0), "cuStreamWaitEvent"));
  }
  return ncclSuccess;
}
