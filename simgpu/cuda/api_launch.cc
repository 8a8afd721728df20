// Implements kernel launches and stream memory operations.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "simgpu/cuda/capture.h"
#include "simgpu/cuda/context.h"
#include "simgpu/cuda/faults.h"
#include "simgpu/cuda/loading.h"
#include "simgpu/cuda/memory.h"
#include "simgpu/cuda/occupancy.h"
#include "simgpu/machine/machine.h"
#include "simgpu/machine/os.h"
#include "simgpu/modules/module.h"

using namespace simgpu;

namespace {

// Spends the host time of a launch, which began at `since`. It spins, as a driver does: sleeps are too
// coarse for microseconds. If launch_us is longer than in any real driver, it stands for a slow host, and
// its processor time does not matter: then sleep first.
void SpendLaunchTime(Nanos since) {
  constexpr Nanos kBusy = constants::kBusyLaunch;
  const Nanos until = since + Machine::Get()->config().launch_us * kMicrosecond;
  const Nanos sleep = until - kBusy - MonotonicNow();
  if (sleep > 0) {
    const timespec pause{0, static_cast<long>(sleep)};
    ::nanosleep(&pause, nullptr);
  }
  while (MonotonicNow() < until) {
  }
}

bool LaunchFails() {
  static std::atomic<long> launches{0};
  return Faults().launch_fails_after >= 0 && ++launches > Faults().launch_fails_after;
}

// Ends the process in place of a launch if the fault exit_at_launch says so.
void ExitAtLaunch() {
  static std::atomic<long> launches{0};
  if (Faults().exit_at_launch >= 0 && launches++ == Faults().exit_at_launch) std::exit(0);
}

// Gathers pointers to the parameters of a launch, from either way of passing them.
CUresult GatherParameters(const KernelSpec& spec, void** parameters, void** extra,
                          std::vector<void*>* gathered) {
  if (parameters != nullptr && extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (spec.argument_bytes.empty()) return CUDA_SUCCESS;
  if (parameters != nullptr) {
    gathered->assign(parameters, parameters + spec.argument_bytes.size());
    return CUDA_SUCCESS;
  }
  unsigned char* buffer = nullptr;
  std::size_t bytes = 0;
  for (void** item = extra; item != nullptr && *item != CU_LAUNCH_PARAM_END; item += 2) {
    if (*item == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<unsigned char*>(item[1]);
    if (*item == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<std::size_t*>(item[1]);
  }
  for (std::size_t i = 0; i < spec.argument_bytes.size(); ++i) {
    const std::size_t offset = spec.argument_offsets[i];
    if (buffer == nullptr || offset + spec.argument_bytes[i] > bytes) return CUDA_ERROR_INVALID_VALUE;
    gathered->push_back(buffer + offset);
  }
  return CUDA_SUCCESS;
}

// Returns how many SMs the blocks of a launch fill, at most all of the GPU.
int SmsOf(const LaunchShape& shape) {
  const std::uint64_t sms = SmsOfGrid(shape.blocks, shape.threads);
  return static_cast<int>(std::min<std::uint64_t>(sms, static_cast<std::uint64_t>(shape.gpu_sms)));
}

// Returns what a launch costs, by the image or by the machine's rules.
KernelCost CostOf(Kernel& kernel, const LaunchShape& shape, const ParameterView& launch) {
  const KernelSpec& spec = kernel.spec;
  KernelCost cost{static_cast<double>(spec.ns), spec.sms};
  if (spec.scaled) cost.scale = Machine::Get()->config().kernel_costs.scale;
  if (spec.by_rule) {
    const LaunchCost ruled = kernel.known.CostOf(spec, shape, launch);
    cost = {ruled.ns, ruled.sms.value_or(kSmsOfGrid)};
  }
  if (cost.sms == kSmsOfGrid) cost.sms = SmsOf(shape);
  return cost;
}

CUresult Launch(CUfunction function, const unsigned (&grid)[3], const unsigned (&block)[3], unsigned shared,
                CUstream handle, void** parameters, void** extra) {
  const Nanos begin = MonotonicNow();
  StreamPtr stream;
  if (const CUresult error = FindStream(handle, &stream); error != CUDA_SUCCESS) return error;
  const auto kernel = Handles<Kernel>().Find(function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (const unsigned size : {grid[0], grid[1], grid[2], block[0], block[1], block[2]}) {
    if (size == 0) return CUDA_ERROR_INVALID_VALUE;
  }
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads > 1024) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = kernel->attributes.CheckLaunch(static_cast<unsigned>(threads), shared);
      error != CUDA_SUCCESS) {
    return error;
  }
  ExitAtLaunch();
  if (LaunchFails()) return CUDA_ERROR_LAUNCH_FAILED;
  std::vector<void*> gathered;
  if (const CUresult error = GatherParameters(kernel->spec, parameters, extra, &gathered);
      error != CUDA_SUCCESS) {
    return error;
  }
  LoadForLaunch(*stream, *kernel);
  const ParameterView launch{gathered.data(), {grid[0], grid[1], grid[2]}};
  const LaunchShape shape{std::uint64_t{grid[0]} * grid[1] * grid[2], threads, 0, stream->device->config.sms};
  const CUresult result =
      Submit(stream, CU_GRAPH_NODE_TYPE_KERNEL, MakeKernel(kernel, CostOf(*kernel, shape, launch), launch));
  SpendLaunchTime(begin);
  return result;
}

bool IsWord(CUdeviceptr address, bool wide) { return address != 0 && address % (wide ? 8 : 4) == 0; }

// Returns an error if one memory operation is invalid. Its address is valid if CUDA knows the memory and the
// memory is not managed.
CUresult CheckOperation(const CUstreamBatchMemOpParams& operation) {
  bool wide = false;
  CUdeviceptr address = 0;
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      wide = true;
      [[fallthrough]];
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      if ((operation.waitValue.flags & ~(3u | CU_STREAM_WAIT_VALUE_FLUSH)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
      if ((operation.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0) return CUDA_ERROR_NOT_SUPPORTED;
      address = operation.waitValue.address;
      break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      wide = true;
      [[fallthrough]];
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      if ((operation.writeValue.flags & CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) != 0) {
        return CUDA_ERROR_NOT_SUPPORTED;
      }
      if (operation.writeValue.flags != CU_STREAM_WRITE_VALUE_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
      address = operation.writeValue.address;
      break;
    case CU_STREAM_MEM_OP_BARRIER:
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  const auto memory = FindAllocation(address);
  const bool good = IsWord(address, wide) && memory && memory->kind != MemoryKind::kManaged;
  return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult MemoryOperations(CUstream handle, const CUstreamBatchMemOpParams* operations, unsigned count) {
  StreamPtr stream;
  if (const CUresult error = FindStream(handle, &stream); error != CUDA_SUCCESS) return error;
  static std::atomic<long> calls{0};
  const long call = calls++;
  const FaultSet& faults = Faults();
  if (faults.memops_unsupported || (faults.memops_fail_after >= 0 && call >= faults.memops_fail_after)) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  for (unsigned i = 0; i < count; ++i) {
    if (const CUresult error = CheckOperation(operations[i]); error != CUDA_SUCCESS) return error;
  }
  WorkPtr work = call == faults.broken_memop
                     ? MakeBreak()
                     : MakeMemoryOperations({operations, operations + count}, ChannelTails(*stream));
  return Submit(stream, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, std::move(work));
}

CUstreamBatchMemOpParams Operation(CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value,
                                   unsigned flags) {
  CUstreamBatchMemOpParams operation{};
  operation.operation = type;
  if (type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64) {
    operation.waitValue.address = address;
    operation.waitValue.value64 = value;
    operation.waitValue.flags = flags;
  } else {
    operation.writeValue.address = address;
    operation.writeValue.value64 = value;
    operation.writeValue.flags = flags;
  }
  return operation;
}

CUresult OneOperation(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value,
                      unsigned flags) {
  const CUstreamBatchMemOpParams operation = Operation(type, address, value, flags);
  return MemoryOperations(stream, &operation, 1);
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  return Launch(function, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Launch(function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes,
                config->hStream, parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void** parameters) {
  return Launch(function, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, nullptr);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return OneOperation(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  return OneOperation(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return OneOperation(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  return OneOperation(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations,
                               unsigned flags) {
  if (count == 0 || count >= 256 || operations == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return MemoryOperations(stream, operations, count);
}

CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, CUstream stream, void** parameters,
                             void** extra) {
  return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, PerThread(stream), parameters, extra);
}
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** parameters,
                               void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUlaunchConfig own = *config;
  own.hStream = PerThread(own.hStream);
  return cuLaunchKernelEx(&own, function, parameters, extra);
}
CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                        unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                        CUstream stream, void** parameters) {
  return cuLaunchCooperativeKernel(function, gx, gy, gz, bx, by, bz, shared, PerThread(stream), parameters);
}
CUresult cuStreamWaitValue32_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return cuStreamWaitValue32_v2(PerThread(stream), address, value, flags);
}
CUresult cuStreamWaitValue64_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  return cuStreamWaitValue64_v2(PerThread(stream), address, value, flags);
}
CUresult cuStreamWriteValue32_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                      unsigned flags) {
  return cuStreamWriteValue32_v2(PerThread(stream), address, value, flags);
}
CUresult cuStreamWriteValue64_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                      unsigned flags) {
  return cuStreamWriteValue64_v2(PerThread(stream), address, value, flags);
}
CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations,
                                    unsigned flags) {
  return cuStreamBatchMemOp_v2(PerThread(stream), count, operations, flags);
}

// The first version of these calls needs a setting of the kernel driver that is off in practice.
CUresult cuStreamWaitValue32(CUstream, CUdeviceptr, cuuint32_t, unsigned) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuStreamWaitValue64(CUstream, CUdeviceptr, cuuint64_t, unsigned) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuStreamWriteValue32(CUstream, CUdeviceptr, cuuint32_t, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuStreamWriteValue64(CUstream, CUdeviceptr, cuuint64_t, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuStreamBatchMemOp(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // extern "C"
