#include "simgpu/cuda/context.h"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "simgpu/cuda/capture.h"
#include "simgpu/cuda/channels.h"
#include "simgpu/cuda/faults.h"
#include "simgpu/cuda/lost.h"
#include "simgpu/cuda/mps.h"
#include "simgpu/cuda/unload.h"
#include "simgpu/cuda/visible.h"
#include "simgpu/machine/machine.h"

namespace simgpu {
namespace {

std::atomic<bool> initialized{false};
std::atomic<std::uint64_t> next_id{1};

std::vector<std::unique_ptr<Device>>& MutableDevices() {
  static auto* devices = new std::vector<std::unique_ptr<Device>>;
  return *devices;
}

class WaitWork final : public Work {
 public:
  explicit WaitWork(RecordPtr record) : record_(std::move(record)) {}
  void Run(Lane& lane) const override { lane.WaitFor(record_); }

 private:
  RecordPtr record_;
};

std::shared_ptr<Lane> LaneFor(Context& context, std::uint64_t id) {
  const ChannelRules& channels = ProcessChannels();
  if (channels.order != ChannelOrder::kInOrder) return Lane::Start(context.device->gpu);
  while (context.queues.size() < static_cast<std::size_t>(channels.count))
    context.queues.push_back(Lane::Start(context.device->gpu));
  return context.queues[static_cast<std::size_t>(channels.Of(id))];
}

// Makes a stream with this number, by which it has its channel.
StreamPtr MakeNumbered(const std::shared_ptr<Context>& context, unsigned flags, int priority,
                       std::uint64_t id) {
  auto stream = std::make_shared<Stream>();
  stream->context = context;
  stream->device = context->device;
  stream->flags = flags;
  stream->blocking = (flags & CU_STREAM_NON_BLOCKING) == 0;
  stream->priority = priority;
  stream->id = id;
  stream->lane = LaneFor(*context, stream->id);
  stream->shares_lane = !context->queues.empty();
  context->streams.push_back(stream);
  return stream;
}

// Returns the end of the stream's own work. If streams share a lane and this one has done nothing, that is
// reached.
RecordPtr OwnTail(Stream& stream) {
  if (!stream.shares_lane) return stream.lane->Tail();
  const std::lock_guard lock(stream.last_mutex);
  return stream.last != nullptr ? stream.last : Record::OfNow();
}

bool OwnIdle(Stream& stream) { return stream.shares_lane ? OwnTail(stream)->Reached() : stream.lane->Idle(); }

// Orders the legacy stream after all work of the context's blocking streams. REQUIRES: context.mutex is
// held.
void OrderAfterBlockingStreams(Context& context, Stream& legacy) {
  for (const StreamPtr& other : context.streams) {
    if (other->blocking && other.get() != &legacy && other->lane != nullptr) {
      legacy.lane->EnqueueAtOnce(MakeWait(other->lane->Tail()));
    }
  }
}

// Orders a blocking stream after all work of the legacy stream. REQUIRES: context.mutex is held.
void OrderAfterLegacyStream(Context& context, Stream& stream) {
  if (context.legacy == nullptr) return;
  const RecordPtr tail = context.legacy->lane->Tail();
  if (stream.legacy_seen == tail) return;
  stream.legacy_seen = tail;
  stream.lane->EnqueueAtOnce(MakeWait(tail));
}

}  // namespace

const ChannelRules& ProcessChannels() {
  static const ChannelRules rules = [] {
    std::string complaint;
    const ChannelRules found = RulesOfChannels(Machine::Get()->config(), Faults().queues,
                                               std::getenv("CUDA_DEVICE_MAX_CONNECTIONS"), &complaint);
    if (!complaint.empty()) std::fprintf(stderr, "simgpu: %s\n", complaint.c_str());
    return found;
  }();
  return rules;
}

std::vector<RecordPtr> ChannelTails(const Stream& stream) {
  const ChannelRules& channels = ProcessChannels();
  if (channels.order != ChannelOrder::kRelease) return {};
  const std::shared_ptr<Context> context = stream.context.lock();
  if (context == nullptr) return {};
  const std::lock_guard lock(context->mutex);
  std::vector<RecordPtr> tails;
  for (const StreamPtr& other : context->streams) {
    if (other.get() != &stream && channels.Of(other->id) == channels.Of(stream.id))
      tails.push_back(other->lane->Tail());
  }
  return tails;
}

WorkPtr MakeWait(RecordPtr record) { return std::make_shared<WaitWork>(std::move(record)); }

CUresult Initialize() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (RefuseAfterUnload()) return CUDA_ERROR_DEINITIALIZED;
  if (initialized) return CUDA_SUCCESS;
  if (const CUresult joined = ConnectToMps(); joined != CUDA_SUCCESS) return joined;
  Machine* machine = Machine::Get();
  if (machine == nullptr) return CUDA_ERROR_NO_DEVICE;
  if (IsMpsClient()) machine->JoinMps();
  static std::once_flag once;
  std::call_once(once, [&] {
    const auto may_open = [&](int gpu) { return !machine->config().device_files || MayOpenDeviceFile(gpu); };
    for (const int gpu :
         VisibleGpus(machine->node_config().gpus, may_open, std::getenv("CUDA_VISIBLE_DEVICES"))) {
      auto device = std::make_unique<Device>();
      device->ordinal = static_cast<int>(MutableDevices().size());
      device->gpu = gpu;
      device->config = machine->node_config().gpus[static_cast<std::size_t>(gpu)];
      MutableDevices().push_back(std::move(device));
    }
    // A forked child has none of the parent's threads, so CUDA is not initialised in it.
    RegisterUnload();
    pthread_atfork(nullptr, nullptr, [] {
      initialized = false;
      context_error = CUDA_SUCCESS;
    });
  });
  if (MutableDevices().empty()) return CUDA_ERROR_NO_DEVICE;
  initialized = true;
  return CUDA_SUCCESS;
}

bool Initialized() { return !RefuseAfterUnload() && initialized; }

CUresult Ready() {
  if (RefuseAfterUnload()) return CUDA_ERROR_DEINITIALIZED;
  return initialized ? context_error.load() : CUDA_ERROR_NOT_INITIALIZED;
}

const std::vector<std::unique_ptr<Device>>& Devices() { return MutableDevices(); }

Device* FindDevice(CUdevice device) {
  const auto& devices = Devices();
  return device >= 0 && static_cast<std::size_t>(device) < devices.size()
             ? devices[static_cast<std::size_t>(device)].get()
             : nullptr;
}

CUresult MakeContext(Device* device, unsigned flags, bool primary, std::shared_ptr<Context>* result) {
  if (!Machine::Get()->AddContext(device->gpu)) return CUDA_ERROR_DEVICE_UNAVAILABLE;
  TellMpsOfUse(device->gpu);
  auto context = std::make_shared<Context>();
  context->device = device;
  context->flags = flags;
  context->primary = primary;
  context->id = next_id++;
  context->legacy_id = next_id++;
  Handles<Context>().Add(context);
  *result = std::move(context);
  return CUDA_SUCCESS;
}

void DestroyContext(const std::shared_ptr<Context>& context) {
  WaitForAll(context);
  if (Handles<Context>().Remove(context.get()) != nullptr)
    Machine::Get()->RemoveContext(context->device->gpu);
  const std::lock_guard lock(context->mutex);
  for (const StreamPtr& stream : context->streams) {
    Handles<Stream>().Remove(stream.get());
    stream->lane->Stop();
  }
  context->streams.clear();
  context->legacy = nullptr;
  context->per_thread.clear();
}

std::vector<std::weak_ptr<Context>>& ContextStack() {
  thread_local std::vector<std::weak_ptr<Context>> stack;
  return stack;
}

std::shared_ptr<Context> Current() {
  const auto& stack = ContextStack();
  return stack.empty() ? nullptr : stack.back().lock();
}

CUresult RequireContext(std::shared_ptr<Context>* context) {
  if (const CUresult result = Ready(); result != CUDA_SUCCESS) return result;
  *context = Current();
  if (*context != nullptr && Handles<Context>().Find(context->get()) != nullptr) return CUDA_SUCCESS;
  return *context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

StreamPtr MakeStream(const std::shared_ptr<Context>& context, unsigned flags, int priority) {
  return MakeNumbered(context, flags, priority, next_id++);
}

CUresult FindStream(CUstream handle, StreamPtr* stream) {
  if (Faults().cancellation_points) ::pthread_testcancel();
  if (handle != nullptr && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
    if (const CUresult result = Ready(); result != CUDA_SUCCESS) return result;
    *stream = Handles<Stream>().Find(handle);
    return *stream != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  }
  std::shared_ptr<Context> context;
  if (const CUresult result = RequireContext(&context); result != CUDA_SUCCESS) return result;
  const std::lock_guard lock(context->mutex);
  StreamPtr& own =
      handle == CU_STREAM_PER_THREAD ? context->per_thread[std::this_thread::get_id()] : context->legacy;
  if (own == nullptr) {
    const bool legacy = handle != CU_STREAM_PER_THREAD;
    own = MakeNumbered(context, CU_STREAM_DEFAULT, 0, legacy ? context->legacy_id : next_id++);
    own->legacy = legacy;
  }
  *stream = own;
  return CUDA_SUCCESS;
}

CUresult Submit(const StreamPtr& stream, CUgraphNodeType type, WorkPtr work) {
  if (AnyCapture()) {
    bool captured = false;
    const CUresult result = CaptureWork(*stream, type, work, &captured);
    if (captured || result != CUDA_SUCCESS) return result;
  }
  const std::shared_ptr<Context> context = stream->context.lock();
  if (context == nullptr) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (stream->blocking) {
    const std::lock_guard lock(context->mutex);
    if (stream->legacy) {
      OrderAfterBlockingStreams(*context, *stream);
    } else {
      OrderAfterLegacyStream(*context, *stream);
    }
  }
  stream->lane->Enqueue(std::move(work));
  if (stream->shares_lane) NoteLast(*stream);
  return CUDA_SUCCESS;
}

void NoteLast(Stream& stream) {
  const std::lock_guard lock(stream.last_mutex);
  stream.last = stream.lane->Tail();
}

RecordPtr TailOf(const StreamPtr& stream) {
  const std::shared_ptr<Context> context = stream->context.lock();
  if (stream->legacy && context != nullptr) {
    const std::lock_guard lock(context->mutex);
    OrderAfterBlockingStreams(*context, *stream);
    return stream->lane->Tail();
  }
  return OwnTail(*stream);
}

bool IsIdle(const StreamPtr& stream) {
  const std::shared_ptr<Context> context = stream->context.lock();
  if (stream->legacy && context != nullptr) {
    const std::lock_guard lock(context->mutex);
    for (const StreamPtr& other : context->streams) {
      if (other->blocking && !OwnIdle(*other)) return false;
    }
  }
  return OwnIdle(*stream);
}

void WaitForAll(const std::shared_ptr<Context>& context) {
  std::vector<StreamPtr> streams;
  {
    const std::lock_guard lock(context->mutex);
    streams = context->streams;
  }
  for (const StreamPtr& stream : streams) stream->lane->Tail()->Wait();
}

CUresult SubmitAndWait(const StreamPtr& stream, WorkPtr work) {
  const CUresult result = Submit(stream, CU_GRAPH_NODE_TYPE_HOST, std::move(work));
  if (result != CUDA_SUCCESS) return result;
  stream->lane->Tail()->Wait();
  return context_error;
}

}  // namespace simgpu
