// Declares the devices, contexts, streams and events of this process.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "simgpu/cuda/api.h"
#include "simgpu/cuda/graph.h"
#include "simgpu/cuda/handles.h"
#include "simgpu/cuda/lane.h"
#include "simgpu/cuda/record.h"
#include "simgpu/machine/config.h"

namespace simgpu {

struct Context;
struct Capture;
class SharedEvent;

// A Device is a GPU that the process sees.
struct Device {
  int ordinal;  // the application's number, with CUDA_VISIBLE_DEVICES applied
  int gpu;      // place of the GPU on the node
  GpuConfig config;
  std::mutex mutex;
  std::shared_ptr<Context> primary;  // null unless retained
  int primary_uses = 0;
  unsigned primary_flags = 0;
};

// Returns CUDA_SUCCESS once cuInit() has succeeded in this process; a parent's cuInit() does not count.
// After an error on the GPU it returns that error.
CUresult Ready();
// Returns true once cuInit() has succeeded, even after an error on the GPU: the current context of a thread
// can always be read and changed.
bool Initialized();
// Connects to MPS and to the machine and finds the visible GPUs. Returns what cuInit() returns. Thread-safe;
// may be called again.
CUresult Initialize();
// Returns the visible GPUs.
const std::vector<std::unique_ptr<Device>>& Devices();
// Returns the device with this number, or nullptr.
Device* FindDevice(CUdevice device);

struct Stream {
  std::weak_ptr<Context> context;
  Device* device = nullptr;
  std::shared_ptr<Lane> lane;
  bool blocking = true;  // ordered against the legacy default stream
  bool legacy = false;
  int priority = 0;
  unsigned flags = 0;
  std::uint64_t id = 0;
  RecordPtr legacy_seen;  // tail of the legacy stream for which this stream waits already
  bool shares_lane = false;
  // If streams share a lane, the end of this one's latest work; null if it has none.
  std::mutex last_mutex;
  RecordPtr last;
  // CaptureMutex() guards the two fields below.
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> frontier;  // nodes on which the next captured node depends
};
using StreamPtr = std::shared_ptr<Stream>;

struct Event {
  std::weak_ptr<Context> context;
  unsigned flags = 0;
  std::shared_ptr<SharedEvent> shared;  // null unless other processes may use it; knows the latest record
  std::mutex mutex;
  RecordPtr record;  // the latest record

  // These two are set if the latest record was captured instead.
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> nodes;
};

struct Context : std::enable_shared_from_this<Context> {
  Device* device = nullptr;
  unsigned flags = 0;
  std::uint64_t id = 0;
  std::uint64_t legacy_id = 0;  // number of its legacy stream, which is there from the beginning
  bool primary = false;
  std::mutex mutex;  // guards the lists; held while work is ordered against the legacy stream
  std::vector<StreamPtr> streams;
  StreamPtr legacy;
  std::map<std::thread::id, StreamPtr> per_thread;
  std::vector<std::shared_ptr<Lane>> queues;  // of channels in which work runs in order
  std::map<int, std::size_t> limits;
};

// Makes a context. Returns CUDA_ERROR_DEVICE_UNAVAILABLE if the compute mode of the machine refuses it.
CUresult MakeContext(Device* device, unsigned flags, bool primary, std::shared_ptr<Context>* result);
// Waits for the context's work and removes its streams.
void DestroyContext(const std::shared_ptr<Context>& context);

// Returns the calling thread's current context, or null if it has none or the context was destroyed.
std::shared_ptr<Context> Current();
// Returns the calling thread's stack of contexts; the last one is current.
std::vector<std::weak_ptr<Context>>& ContextStack();
// Finds the current context. Returns an error if CUDA is not ready, or if there is no context or it was
// destroyed.
CUresult RequireContext(std::shared_ptr<Context>* context);

// Returns a new stream of the context. REQUIRES: context->mutex is held.
StreamPtr MakeStream(const std::shared_ptr<Context>& context, unsigned flags, int priority);
// Finds the stream of a handle. Returns an error if there is none. The handles of the three default streams
// refer to the current context.
CUresult FindStream(CUstream handle, StreamPtr* stream);

// Queues work in the order that CUDA promises. A blocking stream's work follows the legacy stream's work,
// and the legacy stream's work follows that of all blocking streams. If the stream captures, adds the work
// to its graph instead.
CUresult Submit(const StreamPtr& stream, CUgraphNodeType type, WorkPtr work);
// Returns the ends of all work that the other streams of the stream's hardware channel have now, if a write
// must wait for it; else none.
std::vector<RecordPtr> ChannelTails(const Stream& stream);
// Notes that the latest work in the stream's lane is the stream's. Submit() does that for what it queues.
void NoteLast(Stream& stream);
// Returns a record that is reached when all work submitted to the stream is done, and all work for which
// that waits. Work of other streams that stands behind it in the same lane does not count.
RecordPtr TailOf(const StreamPtr& stream);
// Returns true if a wait for TailOf(stream) would return at once.
bool IsIdle(const StreamPtr& stream);
// Blocks until all work of all streams of the context is done.
void WaitForAll(const std::shared_ptr<Context>& context);

// Submits work and blocks until it is done, as synchronous calls do.
CUresult SubmitAndWait(const StreamPtr& stream, WorkPtr work);

// Returns the calling thread's own default stream in place of the default stream, and every other stream as
// it is. The _ptsz functions use it.
inline CUstream PerThread(CUstream stream) { return stream == nullptr ? CU_STREAM_PER_THREAD : stream; }

}  // namespace simgpu
