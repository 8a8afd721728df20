// Stands in for the driver. Its streams do what is queued on them, a step at a time: memory operations on one
// page, events, host functions. It aborts when the library asks for what no user may come to feel: an
// operation on anything but a turn's words, or on a stream that is captured or gone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/futex.h"
#include "proto/turnstile.h"
#include "sidecar/gates/driver.h"
#include "tests/fuzz/require.h"
#include "turn/ops.h"

namespace crossover::fuzz {

class ToyGpu {
 public:
  static constexpr std::size_t kStreams = 3;  // of the user, and one of the library's own

  ToyGpu() { current_ = this; }
  ~ToyGpu() { current_ = nullptr; }
  ToyGpu(const ToyGpu&) = delete;
  ToyGpu& operator=(const ToyGpu&) = delete;

  bool refuses_memory_operations = false;
  bool registers_pages = true;
  std::function<void()> on_wait;  // called while the host waits for a stream that stands

  static std::uint64_t KeyOf(std::size_t stream) { return 0x100 * (stream + 1); }
  void Kernel(std::size_t stream) {
    streams_[stream].queue.push_back([] { return true; });
  }
  void Create(std::size_t stream) { streams_[stream].exists = true; }
  void Destroy(std::size_t stream) { streams_[stream].exists = false; }
  bool Exists(std::size_t stream) const { return streams_[stream].exists; }
  void Capture(std::size_t stream, bool on) { streams_[stream].captured = on; }
  bool Captured(std::size_t stream) const { return streams_[stream].captured; }

  // Runs until every stream is empty or waits.
  void Run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (Stream& stream : streams_) {
        while (!stream.queue.empty() && stream.queue.front()()) {
          stream.queue.pop_front();
          ++done_;
          moved = true;
        }
      }
    }
  }
  bool Idle() const {
    for (const Stream& stream : streams_) {
      if (!stream.queue.empty()) return false;
    }
    return true;
  }
  std::uint64_t queued() const { return queued_; }  // by the library, ever
  std::uint64_t done() const { return done_; }      // of what was queued, ever

  static gates::Driver Table();

 private:
  using Work = std::function<bool()>;  // false: it waits
  struct Stream {
    std::deque<Work> queue;
    bool exists = true;
    bool captured = false;
  };
  // An Event says whether the stream has come to where the event was recorded last. A stream that waits for
  // the event waits for that place.
  struct Event {
    std::shared_ptr<bool> reached = std::make_shared<bool>(true);
  };

  static ToyGpu& Get() { return *current_; }
  static CUcontext Context() { return reinterpret_cast<CUcontext>(0x77); }
  static CUstream Own() { return reinterpret_cast<CUstream>(KeyOf(kStreams)); }
  static Event* EventOf(CUevent event) { return reinterpret_cast<Event*>(event); }

  Stream& StreamOf(CUstream handle) {
    const auto number = reinterpret_cast<std::uintptr_t>(handle) / 0x100 - 1;
    Require(number <= kStreams);
    Require(streams_[number].exists);
    return streams_[number];
  }
  void Queue(CUstream handle, Work work) {
    Stream& stream = StreamOf(handle);
    Require(!stream.captured);
    stream.queue.push_back(std::move(work));
    ++queued_;
  }

  // Returns the word at an address. Aborts if a memory operation must not use that address.
  std::uint32_t* WordAt(CUdeviceptr address, bool writes) const {
    const auto offset = static_cast<std::size_t>(address - reinterpret_cast<std::uintptr_t>(page_));
    Require(page_ != nullptr && offset < sizeof(crossover_page) && offset % sizeof(std::uint32_t) == 0);
    auto* word = reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(page_) + offset);
    if (offset == offsetof(crossover_page, magic)) {
      Require(!writes);
      return word;
    }
    Require(offset >= offsetof(crossover_page, slot));
    const std::size_t within = (offset - offsetof(crossover_page, slot)) % sizeof(crossover_slot);
    // The library tries its stores on the last of these.
    Require(within == offsetof(crossover_slot, ready) || within == offsetof(crossover_slot, hold) ||
            within == offsetof(crossover_slot, rel) || within == offsetof(crossover_slot, gate) ||
            (writes && within == offsetof(crossover_slot, heartbeat)));
    return word;
  }

  static CUresult BatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* params,
                             unsigned int) {
    if (Get().refuses_memory_operations) return CUDA_ERROR_NOT_SUPPORTED;
    for (unsigned int i = 0; i < count; ++i) {
      if (params[i].operation == CU_STREAM_MEM_OP_BARRIER) continue;  // what is queued is done in its order
      const bool waits = params[i].operation == CU_STREAM_MEM_OP_WAIT_VALUE_32;
      std::uint32_t* word =
          Get().WordAt(waits ? params[i].waitValue.address : params[i].writeValue.address, !waits);
      const std::uint32_t value = waits ? params[i].waitValue.value : params[i].writeValue.value;
      Get().Queue(stream, [=] {
        if (waits) return turn::AtOrPast(base::LoadWord(word), value);
        base::StoreWord(word, value);
        return true;
      });
    }
    return CUDA_SUCCESS;
  }
  static CUresult EventRecord(CUevent handle, CUstream stream) {
    const auto reached = EventOf(handle)->reached = std::make_shared<bool>(false);
    Get().Queue(stream, [reached] { return *reached = true; });
    return CUDA_SUCCESS;
  }
  static CUresult StreamWaitEvent(CUstream stream, CUevent handle, unsigned int) {
    Get().Queue(stream, [reached = EventOf(handle)->reached] { return *reached; });
    return CUDA_SUCCESS;
  }
  static CUresult EventSynchronize(CUevent handle) {
    for (Get().Run(); !*EventOf(handle)->reached; Get().Run()) Get().on_wait();
    return CUDA_SUCCESS;
  }

  inline static ToyGpu* current_ = nullptr;
  std::array<Stream, kStreams + 1> streams_;
  std::vector<std::unique_ptr<Event>> events_;
  crossover_page* page_ = nullptr;
  std::uint64_t queued_ = 0;
  std::uint64_t done_ = 0;
};

inline gates::Driver ToyGpu::Table() {
  gates::Driver driver;
  driver.CtxGetCurrent = [](CUcontext* current) {
    *current = Context();
    return CUDA_SUCCESS;
  };
  driver.CtxSetCurrent = [](CUcontext) { return CUDA_SUCCESS; };
  driver.CtxPushCurrent = [](CUcontext) { return CUDA_SUCCESS; };
  driver.CtxPopCurrent = [](CUcontext*) { return CUDA_SUCCESS; };
  driver.ThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
  driver.StreamCreate = [](CUstream* stream, unsigned int) {
    *stream = Own();
    return CUDA_SUCCESS;
  };
  driver.StreamDestroy = [](CUstream) { return CUDA_SUCCESS; };
  driver.StreamSynchronize = [](CUstream stream) {
    Get().Run();
    Require(Get().StreamOf(stream).queue.empty());
    return CUDA_SUCCESS;
  };
  driver.StreamQuery = [](CUstream stream) {
    if (stream == CU_STREAM_LEGACY) return Get().Idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    return Get().StreamOf(stream).queue.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  };
  driver.StreamIsCapturing = [](CUstream stream, CUstreamCaptureStatus* status) {
    const bool captured = Get().StreamOf(stream).captured;
    *status = captured ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  };
  driver.StreamBatchMemOp = &BatchMemOp;
  driver.StreamWaitEvent = &StreamWaitEvent;
  driver.EventCreate = [](CUevent* event, unsigned int) {
    Get().events_.push_back(std::make_unique<Event>());
    *event = reinterpret_cast<CUevent>(Get().events_.back().get());
    return CUDA_SUCCESS;
  };
  driver.EventRecord = &EventRecord;
  driver.EventSynchronize = &EventSynchronize;
  driver.LaunchHostFunc = [](CUstream stream, CUhostFn function, void* data) {
    Get().Queue(stream, [function, data] {
      function(data);
      return true;
    });
    return CUDA_SUCCESS;
  };
  driver.MemHostRegister = [](void* memory, std::size_t, unsigned int) {
    if (!Get().registers_pages) return CUDA_ERROR_NOT_SUPPORTED;
    Get().page_ = static_cast<crossover_page*>(memory);
    return CUDA_SUCCESS;
  };
  driver.MemHostUnregister = [](void*) { return CUDA_SUCCESS; };
  driver.MemHostGetDevicePointer = [](CUdeviceptr* device, void* memory, unsigned int) {
    *device = reinterpret_cast<std::uintptr_t>(memory);
    return CUDA_SUCCESS;
  };
  return driver;
}

}  // namespace crossover::fuzz
