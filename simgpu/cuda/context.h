// Devices, contexts, streams and events of this process.
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

struct Device {
  int ordinal;  // as the application counts, CUDA_VISIBLE_DEVICES applied
  int gpu;      // place on the node
  GpuConfig config;
  std::mutex mutex;
  std::shared_ptr<Context> primary;  // while retained
  int primary_uses = 0;
  unsigned primary_flags = 0;
};

// CUDA_SUCCESS once cuInit() has worked in this very process (not in the parent that forked it), until an
// error on the GPU: that error then.
CUresult Ready();
// The same whatever has become of the contexts: what is current on a thread can always be asked and changed.
bool Initialized();
CUresult Initialize();
const std::vector<std::unique_ptr<Device>>& Devices();
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
  RecordPtr legacy_seen;  // the legacy stream's tail that this stream waits for already
  // Guarded by CaptureMutex():
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> frontier;  // what the next captured node depends on
};
using StreamPtr = std::shared_ptr<Stream>;

struct Event {
  std::weak_ptr<Context> context;
  unsigned flags = 0;
  std::mutex mutex;
  RecordPtr record;  // the latest

  // When the latest record was captured instead:
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> nodes;
};

struct Context : std::enable_shared_from_this<Context> {
  Device* device = nullptr;
  unsigned flags = 0;
  std::uint64_t id = 0;
  bool primary = false;
  std::mutex mutex;  // guards the lists; held while work is ordered against the legacy stream
  std::vector<StreamPtr> streams;
  StreamPtr legacy;
  std::map<std::thread::id, StreamPtr> per_thread;
  std::vector<std::shared_ptr<Lane>> queues;  // fault queues:N
  std::map<int, std::size_t> limits;
};

std::shared_ptr<Context> MakeContext(Device* device, unsigned flags, bool primary);
// Waits for the context's work and forgets its streams.
void DestroyContext(const std::shared_ptr<Context>& context);

// The calling thread's current context, null when it has none or it was destroyed.
std::shared_ptr<Context> Current();
std::vector<std::weak_ptr<Context>>& ContextStack();
CUresult RequireContext(std::shared_ptr<Context>* context);

StreamPtr MakeStream(const std::shared_ptr<Context>& context, unsigned flags, int priority);
// Resolves a handle, the three default ones included, against the current context.
CUresult FindStream(CUstream handle, StreamPtr* stream);

// Queues work in the order CUDA promises: after the legacy stream's work, or on it after that of all blocking
// streams; or adds it to the graph that the stream captures.
CUresult Submit(const StreamPtr& stream, CUgraphNodeType type, WorkPtr work);
// A record of all that was submitted to the stream, and of what that waits for.
RecordPtr TailOf(const StreamPtr& stream);
// True when a wait for the same would return at once.
bool IsIdle(const StreamPtr& stream);
void WaitForAll(const std::shared_ptr<Context>& context);

// Submits and waits: what synchronous calls do.
CUresult SubmitAndWait(const StreamPtr& stream, WorkPtr work);

inline CUstream PerThread(CUstream stream) { return stream == nullptr ? CU_STREAM_PER_THREAD : stream; }

}  // namespace simgpu
