// Which collective a stream or an event stands behind: turns program order into facts for the detector.
//
// Collectives are numbered 1, 2, 3, ... in the order in which they are called. Streams and events are opaque
// keys. Tables are bounded and never allocate; when one is full the tracker says so and its owner stops
// taking turns. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace crossover::phase {

using Sequence = std::uint64_t;  // number of a collective, 0 for none
using StreamKey = std::uint64_t;
using EventKey = std::uint64_t;

struct StreamState {
  StreamKey key = 0;
  Sequence last = 0;        // newest collective that later work on this stream comes after
  bool compute = false;     // kernels of the user were launched on it
  bool collective = false;  // collectives were issued on it
  bool finishing = false;   // NCCL has launched a kernel on it and not recorded its event yet
};

class Tracker {
 public:
  static constexpr std::size_t kStreams = 128;
  static constexpr std::size_t kEvents = 1024;  // a power of two

  // Each returns the number of a collective that compute now comes after and did not before, or 0.
  Sequence OnCollective(StreamKey stream, Sequence sequence);
  Sequence OnStreamWait(StreamKey stream, EventKey event);
  Sequence OnHostWaitEvent(EventKey event);
  Sequence OnHostWaitStream(StreamKey stream);
  Sequence OnHostWaitContext();

  // A collective that OnCollective() told of is a kernel launched from within NCCL, where nothing tells
  // NCCL's own calls of the driver from the user's. The first event recorded on its stream behind it is then
  // NCCL's own (ncclLaunchFinish). What waits for that event on the GPU comes after the collective all the
  // same; but NCCL looks at it from the host whenever it likes, which joins nothing and is not the same on
  // all ranks.
  void OnNcclKernel(StreamKey stream);

  void OnRecord(EventKey event, StreamKey stream);
  void OnLaunch(StreamKey stream);
  void ForgetStream(StreamKey stream);
  void ForgetEvent(EventKey event);
  void Reset() { *this = Tracker(); }

  bool full() const { return full_; }
  bool IsCompute(StreamKey stream) const;

  // All streams that are in use; entries with key 0 are free.
  const std::array<StreamState, kStreams>& streams() const { return streams_; }

 private:
  static constexpr std::size_t kProbes = 16;

  struct Event {
    EventKey key = 0;
    Sequence last = 0;
    bool of_nccl = false;
  };

  const StreamState* Find(StreamKey stream) const;
  StreamState* Find(StreamKey stream) { return const_cast<StreamState*>(std::as_const(*this).Find(stream)); }
  StreamState* FindOrAdd(StreamKey stream);
  Event* FindEvent(EventKey event);
  Event* FreeEvent(EventKey event);
  Sequence Join(Sequence sequence);

  std::array<StreamState, kStreams> streams_{};
  std::array<Event, kEvents> events_{};
  Sequence newest_ = 0;  // last collective called
  Sequence joined_ = 0;  // newest collective that compute comes after
  bool full_ = false;
};

}  // namespace crossover::phase
