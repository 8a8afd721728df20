// Declares the communicator: the handle of one rank.
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
#include "simgpu/replay/replays.h"

namespace simgpu::nccl {

// A PendingCall is a call of the user that waits for the end of its group.
struct PendingCall {
  Call call;
  const void* send = nullptr;
  void* recv = nullptr;
  CUstream stream = nullptr;
};

class Profiler;

// A ControlRing connects the hosts of the ranks, for what they exchange apart from the GPU's streams.
struct ControlRing {
  UniqueFd next;
  UniqueFd prev;
  FrameReader from_prev;
};

}  // namespace simgpu::nccl

// An ncclComm is one rank's communicator: its device, its network and its engine.
struct ncclComm {
 public:
  // Makes a handle for the calling thread's CUDA context. Join() then meets the other ranks.
  static ncclResult_t Make(int ranks, int rank, const simgpu::nccl::Config& config,
                           std::unique_ptr<ncclComm>* made);
  ~ncclComm();
  ncclComm(const ncclComm&) = delete;
  ncclComm& operator=(const ncclComm&) = delete;

  // Meets the other ranks; blocks until all are there. Any thread.
  ncclResult_t Join(const ncclUniqueId& id);
  // Exchanges `mine` between the hosts of all ranks; blocks until all have called it. *all is in rank
  // order. Any thread; one at a time.
  ncclResult_t GatherOnHost(const std::vector<std::byte>& mine, std::vector<std::vector<std::byte>>* all);

  // Puts the calls on their streams, as one group. Any thread; one at a time.
  ncclResult_t Launch(const std::vector<simgpu::nccl::PendingCall>& calls);

  // Blocks until all launched work is done on all ranks and the connections may close.
  ncclResult_t Finalize();
  // Ends all work under way. Any thread.
  void Abort();
  // Ends all work under way and blocks until none is left. Later calls that move data are refused, on every
  // rank; the hosts can still exchange data, for a split. Any thread; one at a time.
  ncclResult_t Revoke();
  // Makes a unique ID for ranks that join later (ncclCommGrow), or refuses if the last one was not used.
  ncclResult_t Invite(ncclUniqueId* id);
  void InvitationUsed() { invited_ = false; }

  bool valid() const { return magic_ == kMagic; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int device() const { return device_->ordinal(); }
  CUcontext context() const { return device_->context(); }
  const simgpu::nccl::Driver& driver() const { return device_->driver(); }
  const simgpu::nccl::Config& config() const { return config_; }
  bool blocking() const { return config_.blocking; }
  bool finalized() const { return finalized_; }
  bool revoked() const { return revoked_; }

  // Returns ncclInProgress while a background job runs, else the first failure, else ncclSuccess.
  ncclResult_t AsyncError();
  // Returns the text of the failure, or nullptr if there is none. The text is valid as long as the
  // communicator.
  const char* FailureText();

  // These mark the begin and the end of a background job, which only non-blocking communicators have.
  // Between the two calls AsyncError() is ncclInProgress.
  void JobBegins();
  void JobEnds(ncclResult_t result);
  // Blocks until no background job runs.
  void AwaitJob();

 private:
  static constexpr std::uint64_t kMagic = 0x4d4d4f434c434e53;
  ncclComm(int ranks, int rank, const simgpu::nccl::Config& config);

  ncclResult_t LaunchAlone(const std::vector<simgpu::nccl::PendingCall>& calls);
  ncclResult_t LaunchRing(const simgpu::nccl::PendingCall& pending, CUstream stream);
  // These serve jobs whose other ranks have no program. TellPeers() makes those ranks make the call. Both do
  // on this GPU what those ranks cannot do.
  ncclResult_t TellPeers(const simgpu::nccl::PendingCall& pending, const simgpu::nccl::Call& thinned,
                         CUstream stream);
  ncclResult_t MirrorPeers(const simgpu::nccl::PendingCall& pending, CUstream stream);
  ncclResult_t LaunchTransfers(const std::vector<simgpu::nccl::PendingCall>& calls, CUstream stream);
  // Finds the capture that the streams are a part of; 0 if they are not captured. Refuses a group that is
  // only partly captured.
  ncclResult_t FindCapture(const std::vector<CUstream>& streams, std::uint64_t* capture);
  ncclResult_t Capture(const std::vector<simgpu::nccl::PendingCall>& calls,
                       const std::vector<CUstream>& streams, std::uint64_t capture);
  ncclResult_t CaptureInOrder(const std::vector<simgpu::nccl::PendingCall>& calls,
                              const std::vector<CUstream>& streams, std::uint64_t capture);
  ncclResult_t LaunchCalls(const std::vector<simgpu::nccl::PendingCall>& calls, CUstream stream);
  ncclResult_t JoinStreams(const std::vector<CUstream>& streams);
  ncclResult_t PartStreams(const std::vector<CUstream>& streams);
  simgpu::nccl::Staging* AcquireStaging(std::size_t bytes, std::string* error);
  // Queues the task of `calls` with the engine, or keeps it for replays, and launches its kernel.
  ncclResult_t Submit(std::unique_ptr<simgpu::nccl::Task> task,
                      std::span<const simgpu::nccl::PendingCall> calls, simgpu::nccl::Staging* staging,
                      CUstream stream);
  ncclResult_t Record(simgpu::nccl::Staging* staging, CUstream stream);
  ncclResult_t Check(CUresult result, const char* what);

  std::uint64_t magic_ = kMagic;
  const int ranks_;
  const int rank_;
  const simgpu::nccl::Config config_;
  simgpu::nccl::Fault fault_;
  std::unique_ptr<simgpu::nccl::Device> device_;
  simgpu::Machine* machine_ = nullptr;
  int gpu_ = -1;  // place of the GPU on this node; -1 if it is not a GPU of this node
  simgpu::nccl::Cancel cancel_;
  simgpu::nccl::ControlRing control_;
  std::unique_ptr<simgpu::nccl::Peers> peers_;        // null unless the environment names peers
  std::unique_ptr<simgpu::nccl::Profiler> profiler_;  // null unless the user has a plugin
  std::unique_ptr<simgpu::nccl::Engine> engine_;      // null before Join(), and for a single rank
  std::atomic<bool> finalized_{false};
  std::atomic<bool> revoked_{false};
  std::atomic<bool> invited_{false};  // true while a unique ID of Invite() waits to be used

  // The kernels of a communicator run one after the other, whatever their streams.
  CUstream last_stream_ = nullptr;
  CUevent last_event_ = nullptr;
  simgpu::nccl::Replays replays_;  // what was captured

  std::mutex mutex_;
  std::condition_variable job_ended_;
  int jobs_ = 0;
  ncclResult_t result_ = ncclSuccess;  // result of the first job that failed
  std::string failure_text_;
};

namespace simgpu::nccl {

// These return an error whose text begins with `function` if `comm` is not a communicator, or if it cannot
// take a call that moves data now.
ncclResult_t CheckComm(const char* function, const ncclComm* comm);
ncclResult_t CheckUsable(const char* function, ncclComm* comm);

}  // namespace simgpu::nccl
