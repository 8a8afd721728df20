#include "simgpu/nccl/comm.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>

#include "simgpu/nccl/log.h"
#include "simgpu/nccl/profiler.h"

using simgpu::nccl::Device;
using simgpu::nccl::Failure;
using simgpu::nccl::Kind;
using simgpu::nccl::Meeting;
using simgpu::nccl::Member;
using simgpu::nccl::Network;
using simgpu::nccl::Profiler;
using simgpu::nccl::Refuse;

namespace {

constexpr std::uint32_t kNoDevice = 0xffffffff;

// Links have a speed only if a machine is described. Alone on a real GPU, the library is as fast as TCP.
simgpu::Machine* DescribedMachine() {
  if (std::getenv("SIMGPU_CONFIG") == nullptr && std::getenv("SIMGPU_MACHINE") == nullptr) return nullptr;
  return simgpu::Machine::Get();
}

// Describes this rank to the others. Ranks with the same `node` share a node.
Member Introduce(simgpu::Machine* machine, int gpu) {
  Member self;
  char host[sizeof self.node] = "localhost";
  gethostname(host, sizeof host - 1);
  const char* chosen = std::getenv("NCCL_HOSTID");
  const std::string name = chosen != nullptr    ? chosen
                           : machine != nullptr ? machine->node_config().name
                                                : host;
  name.copy(self.node, sizeof self.node - 1);
  self.device = gpu < 0 ? kNoDevice : static_cast<std::uint32_t>(gpu);
  return self;
}

// Returns a text about two ranks that use the same GPU, or an empty string. NCCL refuses such a
// communicator.
std::string FindDuplicateGpu(const std::vector<Member>& members) {
  for (std::size_t a = 0; a < members.size(); ++a) {
    for (std::size_t b = a + 1; b < members.size(); ++b) {
      const bool same = members[a].device != kNoDevice && members[a].device == members[b].device &&
                        std::strcmp(members[a].node, members[b].node) == 0;
      if (same) {
        return "duplicate GPU: rank " + std::to_string(a) + " and rank " + std::to_string(b) +
               " both use GPU " + std::to_string(members[a].device) + " of " + members[a].node;
      }
    }
  }
  return "";
}

// Returns how many SMs the machine lets a collective hold on the GPU with this UUID.
int MachineCtas(const simgpu::Machine* machine, const std::string& uuid) {
  const simgpu::MachineConfig config = machine == nullptr ? simgpu::MachineConfig() : machine->config();
  int node = -1;
  int gpu = -1;
  const bool known = machine != nullptr && machine->FindGpu(uuid, &node, &gpu);
  const int sms = known ? config.nodes[static_cast<std::size_t>(node)].gpus[static_cast<std::size_t>(gpu)].sms
                        : simgpu::GpuConfig().sms;
  return config.nccl_ctas.Of(sms);
}

int CountNodes(const std::vector<Member>& members) {
  std::set<std::string_view> nodes;
  for (const Member& member : members) nodes.insert(member.node);
  return static_cast<int>(nodes.size());
}

}  // namespace

ncclComm::ncclComm(int ranks, int rank, const simgpu::nccl::Config& config)
    : ranks_(ranks), rank_(rank), config_(config) {}

ncclResult_t ncclComm::Make(int ranks, int rank, const simgpu::nccl::Config& config,
                            std::unique_ptr<ncclComm>* made) {
  std::unique_ptr<ncclComm> comm(new ncclComm(ranks, rank, config));
  std::string error;
  if (!simgpu::nccl::LoadFault(&comm->fault_, &error)) return Refuse(ncclInvalidUsage, error);
  comm->machine_ = DescribedMachine();
  const auto sms_on = [&](const std::string& uuid) {
    return simgpu::nccl::ChooseCtas(config, MachineCtas(comm->machine_, uuid));
  };
  comm->device_ = Device::Open(sms_on, &error);
  if (!comm->device_) return Refuse(ncclUnhandledCudaError, error);
  int node = -1;
  int gpu = -1;
  const bool known = comm->machine_ != nullptr && comm->machine_->FindGpu(comm->device_->uuid(), &node, &gpu);
  if (known && node == comm->machine_->node()) comm->gpu_ = gpu;
  *made = std::move(comm);
  return ncclSuccess;
}

ncclComm::~ncclComm() {
  AwaitJob();
  replays_.Retire(&device_);
  engine_.reset();
  magic_ = 0;
}

ncclResult_t ncclComm::Join(const ncclUniqueId& id) {
  std::string error;
  const int library = simgpu::nccl::LibraryVersion(&error);
  if (library == 0) return Refuse(ncclInvalidUsage, error);
  peers_ = simgpu::nccl::Peers::Call(ranks_, rank_, id, &error);
  if (!error.empty()) return Refuse(ncclSystemError, error);
  Meeting meeting;
  if (!Meet(id, ranks_, rank_, Introduce(machine_, gpu_), static_cast<std::uint32_t>(library), cancel_,
            &meeting, &error)) {
    return Refuse(ncclRemoteError, "rank " + std::to_string(rank_) + " cannot join: " + error);
  }
  if (const std::string duplicate = FindDuplicateGpu(meeting.members); !duplicate.empty()) {
    return Refuse(ncclInvalidUsage, duplicate);
  }
  profiler_ = Profiler::Open(std::hash<std::string_view>()({id.internal, sizeof id.internal}),
                             CountNodes(meeting.members), ranks_, rank_);
  if (ranks_ == 1) return ncclSuccess;
  control_.next = std::move(meeting.control_next);
  control_.prev = std::move(meeting.control_prev.fd);
  control_.from_prev = std::move(meeting.control_prev.reader);
  auto network = std::make_unique<Network>(std::move(meeting), rank_, machine_, gpu_, fault_);
  engine_ = std::make_unique<simgpu::nccl::Engine>(std::move(network), device_->done_word(),
                                                   simgpu::nccl::TimesFile());
  return ncclSuccess;
}

ncclResult_t ncclComm::GatherOnHost(const std::vector<std::byte>& mine,
                                    std::vector<std::vector<std::byte>>* all) {
  all->assign(static_cast<std::size_t>(ranks_), {});
  (*all)[static_cast<std::size_t>(rank_)] = mine;
  std::string error;
  for (int step = 0; step < ranks_ - 1; ++step) {
    const auto send = static_cast<std::size_t>((rank_ - step + ranks_) % ranks_);
    const auto recv = static_cast<std::size_t>((rank_ - step - 1 + ranks_) % ranks_);
    if (!SendAll(control_.next.get(), simgpu::nccl::EncodeControl((*all)[send]), cancel_, &error)) {
      return Refuse(ncclRemoteError, "exchange between hosts: " + error);
    }
    const auto frame = ReceiveFrame(control_.prev.get(), control_.from_prev, Kind::kControl, cancel_, &error);
    if (!frame) return Refuse(ncclRemoteError, "exchange between hosts: " + error);
    (*all)[recv].assign(frame->payload.begin(), frame->payload.end());
  }
  return ncclSuccess;
}

ncclResult_t ncclComm::Finalize() {
  finalized_ = true;
  if (!engine_) return ncclSuccess;
  {
    const simgpu::nccl::ScopedContext scope(driver(), context());
    // Kernels of a lost context never begin, so the engine would wait for them for ever.
    if (Check(device_->Synchronize(), "cuEventSynchronize") != ncclSuccess)
      engine_->Abort(ncclUnhandledCudaError, simgpu::nccl::LastError());
  }
  engine_->Finish();
  const Failure failure = engine_->failure();
  return failure.result == ncclSuccess ? ncclSuccess : Refuse(failure.result, failure.text);
}

void ncclComm::Abort() {
  cancel_.Raise();
  AwaitJob();
  if (engine_)
    engine_->Abort(ncclRemoteError, "rank " + std::to_string(rank_) + " has aborted the communicator");
}

ncclResult_t ncclComm::Revoke() {
  revoked_ = true;
  if (!engine_) return ncclSuccess;
  engine_->Abort(ncclRemoteError, "rank " + std::to_string(rank_) + " has revoked the communicator");
  const simgpu::nccl::ScopedContext scope(driver(), context());
  device_->Synchronize();
  return ncclSuccess;
}

ncclResult_t ncclComm::Invite(ncclUniqueId* id) {
  std::string error;
  if (invited_.exchange(true))
    return Refuse(ncclInvalidUsage, "CommGetUniqueId: the last unique id was not used yet");
  if (simgpu::nccl::StartRoot(id, &error)) return ncclSuccess;
  invited_ = false;
  return Refuse(ncclSystemError, error);
}

ncclResult_t ncclComm::AsyncError() {
  const std::lock_guard lock(mutex_);
  if (jobs_ > 0) return ncclInProgress;
  if (revoked_) return ncclSuccess;
  if (result_ != ncclSuccess) return result_;
  return engine_ ? engine_->failure().result : ncclSuccess;
}

const char* ncclComm::FailureText() {
  const std::lock_guard lock(mutex_);
  if (jobs_ == 0 && engine_ && failure_text_.empty()) failure_text_ = engine_->failure().text;
  return failure_text_.empty() ? nullptr : failure_text_.c_str();
}

void ncclComm::JobBegins() {
  const std::lock_guard lock(mutex_);
  ++jobs_;
}

void ncclComm::JobEnds(ncclResult_t result) {
  const std::lock_guard lock(mutex_);
  --jobs_;
  if (result != ncclSuccess && result_ == ncclSuccess) {
    result_ = result;
    failure_text_ = simgpu::nccl::LastError();
  }
  job_ended_.notify_all();
}

void ncclComm::AwaitJob() {
  std::unique_lock lock(mutex_);
  job_ended_.wait(lock, [this] { return jobs_ == 0; });
}

namespace simgpu::nccl {

ncclResult_t CheckComm(const char* function, const ncclComm* comm) {
  if (comm != nullptr && comm->valid()) return ncclSuccess;
  return Refuse(ncclInvalidArgument, std::string(function) + ": comm is not a communicator");
}

ncclResult_t CheckUsable(const char* function, ncclComm* comm) {
  const std::string name(function);
  if (const ncclResult_t result = CheckComm(function, comm); result != ncclSuccess) return result;
  if (comm->finalized()) return Refuse(ncclInvalidUsage, name + ": the communicator was finalized");
  if (comm->revoked()) return Refuse(ncclInvalidUsage, name + ": the communicator was revoked");
  const ncclResult_t state = comm->AsyncError();
  if (state == ncclInProgress && !comm->blocking()) {
    return Refuse(ncclInvalidArgument, name + ": the communicator's last operation is still in progress");
  }
  return state == ncclSuccess || state == ncclInProgress ? ncclSuccess : Refuse(state, comm->FailureText());
}

}  // namespace simgpu::nccl
