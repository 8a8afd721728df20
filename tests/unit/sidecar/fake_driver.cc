#include "tests/unit/sidecar/fake_driver.h"

#include <pthread.h>

#include <array>
#include <cstddef>
#include <sstream>
#include <utility>

#include "common/base/futex.h"
#include "proto/signaller_protocol.h"
#include "turn/ops.h"

namespace crossover::test {
namespace {

std::string Hex(const void* handle) {
  std::ostringstream text;
  text << std::hex << reinterpret_cast<std::uintptr_t>(handle);
  return text.str();
}

// Memory keeps its address when it is registered. Lines name a slot by its number, except slot 0.
std::uintptr_t registered = 0;

// The driver gives out this one page, again and again, as its own memory.
alignas(64) std::array<char, 4096> allocated;

std::vector<std::pair<CUhostFn, void*>> queued;

bool IsSignal(CUdeviceptr address) {
  return FakeDriver::signal_lines != 0 && address - FakeDriver::signal_lines < CROSSOVER_SIGNAL_AREA_BYTES;
}

std::string WordAt(CUdeviceptr address) {
  if (IsSignal(address)) {
    return "signal" + std::to_string((address - FakeDriver::signal_lines) / sizeof(crossover_signal_line));
  }
  if (address - reinterpret_cast<std::uintptr_t>(allocated.data()) < allocated.size()) return "open";
  const std::size_t offset = static_cast<std::size_t>(address - registered);
  if (offset == offsetof(crossover_page, magic)) return "magic";
  const std::size_t slot = (offset - offsetof(crossover_page, slot)) / sizeof(crossover_slot);
  const std::size_t word = (offset - offsetof(crossover_page, slot)) % sizeof(crossover_slot);
  const char* name = word == offsetof(crossover_slot, ready)       ? "ready"
                     : word == offsetof(crossover_slot, hold)      ? "hold"
                     : word == offsetof(crossover_slot, rel)       ? "rel"
                     : word == offsetof(crossover_slot, gate)      ? "gate"
                     : word == offsetof(crossover_slot, heartbeat) ? "heartbeat"
                                                                   : "?";
  return name + (slot == 0 ? std::string() : std::to_string(slot));
}

CUresult Note(std::string line) {
  if (FakeDriver::context_lost && line != "push" && line != "pop") return CUDA_ERROR_ILLEGAL_ADDRESS;
  FakeDriver::calls.push_back(std::move(line));
  return CUDA_SUCCESS;
}

// Returns a turn's number, with its stretch behind a point: "end" for the last stretch, and nothing for the
// first.
std::string Number(turn::TurnNumber k) {
  const std::string turn = std::to_string(turn::TurnOf(k));
  if (k == turn::FirstStretch(turn::TurnOf(k))) return turn;
  return turn + '.' + (k == turn::LastStretch(k) ? "end" : std::to_string(k & turn::kStretchMask));
}

// Carries out a store to the word that a gate tries stores on. What the other words do is up to the tests.
void StoreIfTried(CUdeviceptr address, cuuint32_t value) {
  if (!FakeDriver::stores_arrive || WordAt(address).rfind("heartbeat", 0) != 0) return;
  base::StoreWord(reinterpret_cast<std::uint32_t*>(address), value);
}

CUresult BatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* params, unsigned int) {
  if (FakeDriver::cancellation_points) pthread_testcancel();
  if (FakeDriver::while_queueing != nullptr) FakeDriver::while_queueing();
  if (!FakeDriver::memops_supported) return CUDA_ERROR_NOT_SUPPORTED;
  std::string line = "memop " + Hex(stream);
  for (unsigned int i = 0; i < count; ++i) {
    if (params[i].operation == CU_STREAM_MEM_OP_BARRIER) {
      if (!FakeDriver::barriers_supported) return CUDA_ERROR_NOT_SUPPORTED;
      if (params[i].memoryBarrier.flags != CU_STREAM_MEMORY_BARRIER_TYPE_SYS) return CUDA_ERROR_INVALID_VALUE;
      line += " |";
      continue;
    }
    const bool waits = params[i].operation == CU_STREAM_MEM_OP_WAIT_VALUE_32;
    const CUdeviceptr address = waits ? params[i].waitValue.address : params[i].writeValue.address;
    const cuuint32_t value = waits ? params[i].waitValue.value : params[i].writeValue.value;
    if (waits && params[i].waitValue.flags != CU_STREAM_WAIT_VALUE_GEQ) return CUDA_ERROR_INVALID_VALUE;
    if (IsSignal(address) && !FakeDriver::signals_supported) return CUDA_ERROR_INVALID_VALUE;
    line += ' ' + WordAt(address) + (waits ? ">=" : "=") +
            (IsSignal(address) ? std::to_string(value) : Number(value));
    if (!waits) StoreIfTried(address, value);
  }
  return Note(line);
}

}  // namespace

void FakeDriver::RunHostFunctions() {
  for (const auto& [function, data] : std::exchange(queued, {})) function(data);
}

void FakeDriver::ForgetHostFunctions() { queued.clear(); }

gates::Driver FakeDriver::Table() {
  gates::Driver driver;
  driver.CtxGetCurrent = [](CUcontext* current) {
    *current = other_context != nullptr ? other_context : context();
    return CUDA_SUCCESS;
  };
  driver.CtxSetCurrent = [](CUcontext) { return CUDA_SUCCESS; };
  driver.CtxPushCurrent = [](CUcontext) { return Note("push"); };
  driver.CtxPopCurrent = [](CUcontext*) { return Note("pop"); };
  driver.ThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode* mode) {
    std::swap(*mode, capture_mode);
    return CUDA_SUCCESS;
  };
  driver.StreamCreate = [](CUstream* stream, unsigned int) {
    *stream = Stream(0xfff0);
    return CUDA_SUCCESS;
  };
  driver.StreamDestroy = [](CUstream) { return CUDA_SUCCESS; };
  driver.StreamSynchronize = [](CUstream) { return CUDA_SUCCESS; };
  driver.StreamQuery = [](CUstream stream) {
    ++queries;
    if (context_lost) return CUDA_ERROR_ILLEGAL_ADDRESS;
    return stream == busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
  };
  driver.StreamIsCapturing = [](CUstream stream, CUstreamCaptureStatus* status) {
    *status = stream == capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  };
  driver.StreamWaitEvent = [](CUstream stream, CUevent, unsigned int) { return Note("wait " + Hex(stream)); };
  driver.StreamBatchMemOp = &BatchMemOp;
  driver.EventCreate = [](CUevent* event, unsigned int) {
    *event = reinterpret_cast<CUevent>(0xe0);
    return CUDA_SUCCESS;
  };
  driver.EventRecord = [](CUevent, CUstream stream) { return Note("record " + Hex(stream)); };
  driver.EventSynchronize = [](CUevent) {
    if (cancellation_points) pthread_testcancel();
    if (while_synchronizing != nullptr) while_synchronizing();
    if (capturing != nullptr && capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return Note("synchronize");
  };
  // The function runs at once, unless a test says otherwise: the stream has nothing else to do.
  driver.LaunchHostFunc = [](CUstream stream, CUhostFn function, void* data) {
    if (!host_functions_work) return CUDA_ERROR_NOT_SUPPORTED;
    if (const CUresult error = Note("hostfunc " + Hex(stream)); error != CUDA_SUCCESS) return error;
    queued.emplace_back(function, data);
    if (host_functions_run) RunHostFunctions();
    return CUDA_SUCCESS;
  };
  driver.MemHostAlloc = [](void** memory, std::size_t, unsigned int) {
    *memory = allocated.data();
    return CUDA_SUCCESS;
  };
  driver.MemHostRegister = [](void* memory, std::size_t, unsigned int) {
    if (!registration_works) return CUDA_ERROR_NOT_SUPPORTED;
    registered = reinterpret_cast<std::uintptr_t>(memory);
    return CUDA_SUCCESS;
  };
  driver.MemHostUnregister = [](void*) { return Note("unregister"); };
  driver.MemHostGetDevicePointer = [](CUdeviceptr* device, void* memory, unsigned int) {
    *device = reinterpret_cast<std::uintptr_t>(memory);
    return CUDA_SUCCESS;
  };
  return driver;
}

}  // namespace crossover::test
