// Tracks which collective the work on a stream, or an event, comes after. From that it tells the detector
// when compute joins a collective.
//
//   nccl stream   --C7--+                      last = 7 after C7
//                       | record E             E: last = 7
//   compute       ------+-- wait E -- launch   the wait joins collective 7: last = 7 here too
//
// Collectives are numbered 1, 2, 3, ... in the order in which they are called. Streams and events are opaque
// keys. The tables are bounded and never allocate. A new entry may replace an entry that can tell nothing new
// any more. If a table is still full, full() is true, and the owner takes no turns until Recover() succeeds.
// Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace crossover::phase {

using Sequence = std::uint64_t;  // number of a collective, 0 for none
using StreamKey = std::uint64_t;
using EventKey = std::uint64_t;

// A StreamState is what the tracker knows of one stream.
struct StreamState {
  StreamKey key = 0;
  Sequence last = 0;           // newest collective that later work on this stream comes after
  bool compute = false;        // kernels of the user were launched on it
  bool collective = false;     // collectives were issued on it
  bool finishing = false;      // NCCL has launched a kernel on it and not recorded its event yet
  bool called = false;         // no event of the user's was recorded on it since its last collective
  std::uint32_t launches = 0;  // calls of OnLaunch() for it, the recent ones above all
};

// A Tracker follows streams and events. Compute *joins* a collective when it comes after it from then on:
// on the GPU, or because the host has waited.
class Tracker {
 public:
  static constexpr std::size_t kStreams = 128;
  static constexpr std::size_t kEvents = 1024;  // a power of two
  static constexpr Sequence kRecent = 64;       // collectives after which launches count half

  // Each of these functions records one call, and returns the number of the collective that compute joins by
  // it. Returns 0 if compute joins none, or came after that collective before.
  Sequence OnCollective(StreamKey stream, Sequence sequence);
  Sequence OnStreamWait(StreamKey stream, EventKey event);
  Sequence OnAllWait(EventKey event);  // every stream waits for the event
  Sequence OnHostWaitEvent(EventKey event);
  Sequence OnHostWaitStream(StreamKey stream);
  Sequence OnHostWaitContext();
  // Records that a thread that calls collectives has found the event done. Returns the number of the
  // collective that compute may come after from then on, though it has not joined it; else 0. PyTorch makes
  // no wait for a collective whose end such a thread has found done before. The *end* is the first event of
  // the user's that is recorded behind the collective. Later events on the stream, such as those of PyTorch's
  // memory allocator, say nothing.
  Sequence OnCallerSawEvent(EventKey event);
  // Returns whether compute may come after a collective that it has not joined.
  bool MayHaveJoined() const { return seen_ > joined_; }

  // Records that the last collective on `stream` is a kernel that NCCL launches. In a program with NCCL
  // linked in, nothing tells NCCL's own calls of the driver from the user's. The first event that is recorded
  // on the stream after the kernel is NCCL's own (ncclLaunchFinish). Work that waits for that event on the
  // GPU comes after the collective like other work. But NCCL queries the event from the host at times that
  // differ between ranks, so such a query joins nothing.
  void OnNcclKernel(StreamKey stream);

  // Records that `event` was recorded on `stream`, or behind all streams.
  void OnRecord(EventKey event, StreamKey stream);
  void OnRecordAll(EventKey event) { Keep({event, newest_}); }
  // Records that a kernel of the user was launched on `stream`.
  void OnLaunch(StreamKey stream);
  // Makes the compute stream with the most launches the *main* one, if there is none: from then on, compute
  // joins a collective only where this stream does, or the host. Returns the main stream, 0 for none.
  StreamKey ChooseMain();
  void ForgetMain() { main_ = 0; }
  // Returns the newest collective that compute has joined, 0 for none.
  Sequence joined() const { return joined_; }
  // Returns whether a wait of the main stream for the event would join a collective.
  bool MainWouldJoin(EventKey event) const;
  // Forgets a stream or an event that is destroyed: its handle may be given out again.
  void ForgetStream(StreamKey stream);
  void ForgetEvent(EventKey event);
  // Forgets all streams for which `which` is true.
  template <typename Which>
  void ForgetStreams(Which which) {
    for (StreamState& state : streams_) {
      if (state.key != 0 && which(state.key)) ForgetStream(state.key);
    }
  }
  void Reset() { *this = Tracker(); }

  // Returns whether a table was too small for what was recorded, since the last Recover().
  bool full() const { return full_; }
  // Sets full() to false if there is room for kStreams / 8 streams, and if compute has joined all collectives
  // of which the tracker may have missed something. Returns whether it did. REQUIRES: full().
  bool Recover();
  bool IsCompute(StreamKey stream) const;

  // Returns all streams in use. Entries with key 0 are free.
  const std::array<StreamState, kStreams>& streams() const { return streams_; }

 private:
  static constexpr std::size_t kProbes = 16;

  // An Event is what the tracker knows of a recorded event.
  struct Event {
    EventKey key = 0;
    Sequence last = 0;
    bool of_nccl = false;
    bool end = false;  // the first one of the user's behind `last`
  };

  void FadeLaunches();
  bool Joins(const StreamState& state) const { return state.compute && (main_ == 0 || state.key == main_); }
  const StreamState* Find(StreamKey stream) const;
  StreamState* Find(StreamKey stream) { return const_cast<StreamState*>(std::as_const(*this).Find(stream)); }
  StreamState* FindOrAdd(StreamKey stream);
  bool Idle(const StreamState& state) const;
  void MarkFull();
  const Event* FindEvent(EventKey event) const;
  Event* FindEvent(EventKey event) { return const_cast<Event*>(std::as_const(*this).FindEvent(event)); }
  Event* FreeEvent(EventKey event);
  void Keep(const Event& event);
  Sequence Join(Sequence sequence);

  std::array<StreamState, kStreams> streams_{};
  std::array<Event, kEvents> events_{};
  Sequence newest_ = 0;  // last collective called
  Sequence joined_ = 0;  // newest collective that compute comes after
  Sequence seen_ = 0;    // newest collective whose end was found done by a thread that calls collectives
  StreamKey main_ = 0;
  bool launched_ = false;  // in the last kRecent collectives
  bool full_ = false;
  Sequence full_at_ = 0;  // last collective called when something was missed
};

}  // namespace crossover::phase
