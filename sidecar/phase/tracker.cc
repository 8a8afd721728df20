#include "sidecar/phase/tracker.h"

#include <algorithm>
#include <cstddef>

namespace crossover::phase {
namespace {

std::size_t Hash(std::uint64_t key) { return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 40); }

}  // namespace

Sequence Tracker::OnCollective(StreamKey stream, Sequence sequence) {
  newest_ = sequence;
  if (sequence % kRecent == 0 && std::exchange(launched_, false)) FadeLaunches();
  StreamState* state = FindOrAdd(stream);
  if (state == nullptr) return 0;
  state->last = sequence;
  state->collective = true;
  state->called = true;
  return Joins(*state) ? Join(sequence) : 0;
}

Sequence Tracker::OnStreamWait(StreamKey stream, EventKey event) {
  const Event* recorded = FindEvent(event);
  if (recorded == nullptr) return 0;
  StreamState* state = FindOrAdd(stream);
  if (state == nullptr) return 0;
  state->last = std::max(state->last, recorded->last);
  return Joins(*state) ? Join(recorded->last) : 0;
}

Sequence Tracker::OnAllWait(EventKey event) {
  const Event* recorded = FindEvent(event);
  if (recorded == nullptr) return 0;
  const Sequence last = recorded->last;
  bool computes = false;
  for (StreamState& state : streams_) {
    if (state.key == 0) continue;
    state.last = std::max(state.last, last);
    computes = computes || Joins(state);
  }
  return computes ? Join(last) : 0;
}

Sequence Tracker::OnHostWaitEvent(EventKey event) {
  const Event* recorded = FindEvent(event);
  return recorded == nullptr || recorded->of_nccl ? 0 : Join(recorded->last);
}

Sequence Tracker::OnCallerSawEvent(EventKey event) {
  const Event* recorded = FindEvent(event);
  if (recorded == nullptr || !recorded->end || recorded->last <= std::max(seen_, joined_)) return 0;
  return seen_ = recorded->last;
}

Sequence Tracker::OnHostWaitStream(StreamKey stream) {
  const StreamState* state = Find(stream);
  return state == nullptr ? 0 : Join(state->last);
}

Sequence Tracker::OnHostWaitContext() { return Join(newest_); }

void Tracker::OnRecord(EventKey event, StreamKey stream) {
  StreamState* state = Find(stream);
  if (state == nullptr) return Keep({event});
  const bool of_nccl = std::exchange(state->finishing, false);
  const bool end = !of_nccl && std::exchange(state->called, false);
  Keep({event, state->last, of_nccl, end});
}

// Keeps the event only if it comes after a collective that compute has not joined yet. No other event can
// ever tell something new, so the table holds a few per iteration.
void Tracker::Keep(const Event& event) {
  if (event.last <= joined_) {
    ForgetEvent(event.key);
    return;
  }
  Event* entry = FindEvent(event.key);
  if (entry == nullptr) entry = FreeEvent(event.key);
  if (entry == nullptr) return MarkFull();
  *entry = event;
}

void Tracker::OnNcclKernel(StreamKey stream) {
  StreamState* state = Find(stream);
  if (state != nullptr) state->finishing = true;
}

void Tracker::OnLaunch(StreamKey stream) {
  StreamState* state = FindOrAdd(stream);
  if (state == nullptr) return;
  state->compute = true;
  ++state->launches;
  launched_ = true;
}

// Makes what was launched before count half. A job that warms up on one stream and trains on another has its
// main stream where it trains.
void Tracker::FadeLaunches() {
  for (StreamState& state : streams_) state.launches /= 2;
}

StreamKey Tracker::ChooseMain() {
  if (main_ != 0) return main_;
  const StreamState* most = nullptr;
  for (const StreamState& state : streams_) {
    if (state.key == 0 || !state.compute) continue;
    if (most == nullptr || state.launches > most->launches) most = &state;
  }
  if (most != nullptr) main_ = most->key;
  return main_;
}

bool Tracker::MainWouldJoin(EventKey event) const {
  const Event* recorded = FindEvent(event);
  return recorded != nullptr && recorded->last > joined_;
}

void Tracker::ForgetStream(StreamKey stream) {
  for (StreamState& state : streams_) {
    if (state.key == stream) state = StreamState();
  }
  if (main_ == stream) main_ = 0;
}

void Tracker::ForgetEvent(EventKey event) {
  Event* entry = FindEvent(event);
  if (entry != nullptr) *entry = Event();
}

bool Tracker::IsCompute(StreamKey stream) const {
  const StreamState* state = Find(stream);
  return state != nullptr && state->compute;
}

const StreamState* Tracker::Find(StreamKey stream) const {
  for (const StreamState& state : streams_) {
    if (state.key == stream) return &state;
  }
  return nullptr;
}

// Returns whether the entry is free, or tells nothing more than a new entry for the same stream would.
bool Tracker::Idle(const StreamState& state) const {
  return state.key == 0 || (!state.compute && !state.collective && state.last <= joined_);
}

void Tracker::MarkFull() {
  full_ = true;
  full_at_ = newest_;
}

bool Tracker::Recover() {
  constexpr std::ptrdiff_t kRoom = kStreams / 8;
  const auto room = std::count_if(streams_.begin(), streams_.end(),
                                  [this](const StreamState& state) { return Idle(state); });
  if (room < kRoom || joined_ < full_at_) return false;
  full_ = false;
  return true;
}

StreamState* Tracker::FindOrAdd(StreamKey stream) {
  StreamState* idle = nullptr;
  for (StreamState& state : streams_) {
    if (state.key == stream) return &state;
    if (idle == nullptr || (idle->key != 0 && state.key == 0)) {
      if (Idle(state)) idle = &state;
    }
  }
  if (idle == nullptr) {
    MarkFull();
    return nullptr;
  }
  *idle = StreamState();
  idle->key = stream;
  return idle;
}

const Tracker::Event* Tracker::FindEvent(EventKey event) const {
  for (std::size_t i = 0; i < kProbes; ++i) {
    const Event& entry = events_[(Hash(event) + i) % kEvents];
    if (entry.key == event && entry.last > 0) return &entry;
  }
  return nullptr;
}

// Returns a place for the event, or null if there is none. An entry whose collective is joined counts as
// free.
Tracker::Event* Tracker::FreeEvent(EventKey event) {
  for (std::size_t i = 0; i < kProbes; ++i) {
    Event& entry = events_[(Hash(event) + i) % kEvents];
    if (entry.last <= joined_) return &entry;
  }
  return nullptr;
}

Sequence Tracker::Join(Sequence sequence) {
  if (sequence <= joined_) return 0;
  joined_ = sequence;
  return sequence;
}

}  // namespace crossover::phase
