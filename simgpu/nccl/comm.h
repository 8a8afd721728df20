// A communicator: one rank's handle.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "simgpu/nccl/config.h"
#include "simgpu/nccl/device.h"
#include "simgpu/nccl/peers.h"

namespace simgpu::nccl {

// A call of the user, as it waits for the end of its group.
struct PendingCall {
  Call call;
  const void* send = nullptr;
  void* recv = nullptr;
  CUstream stream = nullptr;
};

class Profiler;

// What the ranks of a communicator exchange on their hosts, apart from the GPU's streams.
struct ControlRing {
  UniqueFd next;
  UniqueFd prev;
  FrameReader from_prev;
};

}  // namespace simgpu::nccl

struct ncclComm {
 public:
  // Takes hold of the calling thread's CUDA context; Join() then finds the others.
  static ncclResult_t Make(int ranks, int rank, const simgpu::nccl::Config& config,
                           std::unique_ptr<ncclComm>* made);
  ~ncclComm();
  ncclComm(const ncclComm&) = delete;
  ncclComm& operator=(const ncclComm&) = delete;

  // Meets the other ranks. Any thread.
  ncclResult_t Join(const ncclUniqueId& id);
  // Collective over all ranks: what every rank gives, in rank order. Any thread; one at a time.
  ncclResult_t GatherOnHost(const std::vector<std::byte>& mine, std::vector<std::vector<std::byte>>* all);

  // Puts the calls on their streams, as one group. Any thread; one at a time.
  ncclResult_t Launch(const std::vector<simgpu::nccl::PendingCall>& calls);

  // Waits until everything launched is done on all sides and the connections may go.
  ncclResult_t Finalize();
  // Ends everything under way, from any thread.
  void Abort();

  bool valid() const { return magic_ == kMagic; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int device() const { return device_->ordinal(); }
  CUcontext context() const { return device_->context(); }
  const simgpu::nccl::Driver& driver() const { return device_->driver(); }
  const simgpu::nccl::Config& config() const { return config_; }
  bool blocking() const { return config_.blocking; }
  bool finalized() const { return finalized_; }

  // ncclInProgress while a job runs in the background, else the first failure, else ncclSuccess.
  ncclResult_t AsyncError();
  // Why, if there is a failure. Valid as long as the communicator.
  const char* FailureText();

  // A job in the background (non-blocking communicators): between the two calls AsyncError() is
  // ncclInProgress.
  void JobBegins();
  void JobEnds(ncclResult_t result);
  void AwaitJob();

 private:
  static constexpr std::uint64_t kMagic = 0x4d4d4f434c434e53;
  ncclComm(int ranks, int rank, const simgpu::nccl::Config& config);

  ncclResult_t LaunchAlone(const std::vector<simgpu::nccl::PendingCall>& calls);
  ncclResult_t LaunchRing(const simgpu::nccl::PendingCall& pending, CUstream stream);
  // Where the other ranks have no program: has them make the call, and does on this GPU what they cannot.
  ncclResult_t TellPeers(const simgpu::nccl::PendingCall& pending, const simgpu::nccl::Call& thinned,
                         CUstream stream);
  ncclResult_t MirrorPeers(const simgpu::nccl::PendingCall& pending, CUstream stream);
  ncclResult_t LaunchTransfers(const std::vector<simgpu::nccl::PendingCall>& calls, CUstream stream);
  ncclResult_t RefuseCapture(const std::vector<CUstream>& streams);
  ncclResult_t JoinStreams(const std::vector<CUstream>& streams);
  ncclResult_t PartStreams(const std::vector<CUstream>& streams);
  // Of all that `calls` ask for.
  ncclResult_t Submit(std::unique_ptr<simgpu::nccl::Task> task,
                      std::span<const simgpu::nccl::PendingCall> calls, CUstream stream);
  ncclResult_t Record(simgpu::nccl::Staging* staging, CUstream stream);
  ncclResult_t Check(CUresult result, const char* what);

  std::uint64_t magic_ = kMagic;
  const int ranks_;
  const int rank_;
  const simgpu::nccl::Config config_;
  simgpu::nccl::Fault fault_;
  std::unique_ptr<simgpu::nccl::Device> device_;
  simgpu::Machine* machine_ = nullptr;
  int gpu_ = -1;  // of this node
  simgpu::nccl::Cancel cancel_;
  simgpu::nccl::ControlRing control_;
  std::unique_ptr<simgpu::nccl::Peers> peers_;        // where the environment names them
  std::unique_ptr<simgpu::nccl::Profiler> profiler_;  // where the user has a plugin
  std::unique_ptr<simgpu::nccl::Engine> engine_;      // none before Join(), nor for a single rank
  std::atomic<bool> finalized_{false};

  // Kernels of one communicator run one after the other, whatever streams they are on.
  CUstream last_stream_ = nullptr;
  CUevent last_event_ = nullptr;

  std::mutex mutex_;
  std::condition_variable job_ended_;
  int jobs_ = 0;
  ncclResult_t result_ = ncclSuccess;  // of the last failed job
  std::string failure_text_;
};
