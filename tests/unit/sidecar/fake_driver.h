// A FakeDriver does nothing but write down what it is asked, as one line per call.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "proto/turnstile.h"
#include "sidecar/gates/driver.h"

namespace crossover::test {

struct FakeDriver {
  // These are the calls, e.g. "record 100", "wait 200", "memop 100 ready=1 | gate>=1 hold=1 gate=1". A bar
  // is a memory barrier.
  inline static std::vector<std::string> calls;
  inline static bool memops_supported = true;
  inline static bool barriers_supported = true;
  inline static bool stores_arrive = true;  // those by which a gate tries the driver
  inline static bool registration_works = true;
  inline static bool host_functions_work = true;
  inline static bool host_functions_run = true;  // at once; else when RunHostFunctions() is called
  inline static CUstream capturing = nullptr;
  inline static CUstream busy = nullptr;
  inline static thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  inline static std::function<void()> while_synchronizing;  // if set: called in EventSynchronize()
  inline static std::function<void()> while_queueing;       // if set: called in a memory operation
  inline static int queries = 0;                            // number of StreamQuery() calls
  inline static bool context_lost = false;                  // calls fail, except for CtxPush and CtxPop
  inline static bool cancellation_points = false;           // in memory operations and EventSynchronize()
  inline static CUcontext other_context = nullptr;          // if set: current in place of context()
  inline static CUdeviceptr signal_lines = 0;               // if set: lines of signals, "signal1" for slot 1
  inline static bool signals_supported = true;              // in memory operations

  static void Clear() {
    calls.clear();
    ForgetHostFunctions();
    memops_supported = true;
    barriers_supported = true;
    stores_arrive = true;
    registration_works = true;
    host_functions_work = true;
    host_functions_run = true;
    capturing = nullptr;
    busy = nullptr;
    capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    while_synchronizing = nullptr;
    while_queueing = nullptr;
    queries = 0;
    context_lost = false;
    cancellation_points = false;
    other_context = nullptr;
    signal_lines = 0;
    signals_supported = true;
  }

  // Returns the context that is current on every thread, unless there is another.
  static CUcontext context() { return reinterpret_cast<CUcontext>(0x77); }
  static CUstream Stream(std::uintptr_t number) { return reinterpret_cast<CUstream>(number); }

  // Runs the host functions that were queued while they did not run, as if the stream came to them.
  static void RunHostFunctions();
  static void ForgetHostFunctions();

  static gates::Driver Table();
};

}  // namespace crossover::test
