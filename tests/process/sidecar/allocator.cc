// Allocates and frees GPU memory of every kind at random, in several threads.
//
//   sidecar_allocator THREADS OPERATIONS SEED LARGEST_KIB
//
// It prints "free <bytes> total <bytes> refused <count>" as the driver reports it. It then waits for a line
// on standard input, so that another process can look, frees all, and prints the same again.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

namespace {

void Must(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "allocator: %s: error %d\n", what, static_cast<int>(result));
  std::_Exit(1);
}
#define MUST(call) Must(call, #call)

enum class Kind { kPlain, kPitch, kManaged, kAsync, kPool, kPhysical, kMapped, kRetained, kCount };

struct Allocation {
  Kind kind;
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  CUmemGenericAllocationHandle handle = 0;
};

class Worker {
 public:
  Worker(CUcontext context, CUmemoryPool pool, unsigned seed, std::size_t largest)
      : context_(context), pool_(pool), random_(seed), largest_(largest) {}

  void Run(int operations) {
    MUST(cuCtxSetCurrent(context_));
    for (int i = 0; i < operations; ++i) {
      if (live_.empty() || (live_.size() < 40 && random_() % 2 == 0)) {
        Make(static_cast<Kind>(random_() % static_cast<unsigned>(Kind::kCount)));
      } else {
        std::swap(live_[random_() % live_.size()], live_.back());
        End(live_.back());
        live_.pop_back();
      }
    }
  }

  void EndAll() {
    for (const Allocation& allocation : live_) End(allocation);
    live_.clear();
  }

  int refused() const { return refused_; }

 private:
  static constexpr std::size_t kPage = 2 << 20;

  void Make(Kind kind) {
    Allocation made{.kind = kind, .bytes = (1 + random_() % (largest_ / 512)) * 512};
    const CUresult result = Ask(made);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
      ++refused_;
      return;
    }
    Must(result, "an allocation");
    live_.push_back(made);
  }

  CUresult Ask(Allocation& made) {
    std::size_t pitch = 0;
    switch (made.kind) {
      case Kind::kPlain:
        return cuMemAlloc(&made.address, made.bytes);
      case Kind::kPitch:
        return cuMemAllocPitch(&made.address, &pitch, 100 + made.bytes % 5000, 16, 4);
      case Kind::kManaged:
        return cuMemAllocManaged(&made.address, made.bytes, CU_MEM_ATTACH_GLOBAL);
      case Kind::kAsync:
        return cuMemAllocAsync(&made.address, made.bytes, nullptr);
      case Kind::kPool:
        return cuMemAllocFromPoolAsync(&made.address, made.bytes, pool_, CU_STREAM_PER_THREAD);
      default:
        return AskForPhysical(made);
    }
  }

  CUresult AskForPhysical(Allocation& made) {
    made.bytes = (made.bytes + kPage - 1) / kPage * kPage;
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    const CUresult result = cuMemCreate(&made.handle, made.bytes, &properties, 0);
    if (result != CUDA_SUCCESS || made.kind == Kind::kPhysical) return result;
    MUST(cuMemAddressReserve(&made.address, made.bytes, 0, 0, 0));
    MUST(cuMemMap(made.address, made.bytes, 0, made.handle, 0));
    // Mapped memory outlives its handle, and retained memory outlives its mapping.
    if (made.kind == Kind::kMapped) MUST(cuMemRelease(made.handle));
    if (made.kind == Kind::kRetained) {
      CUmemGenericAllocationHandle again = 0;
      MUST(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(made.address)));
      MUST(cuMemRelease(made.handle));
      made.handle = again;
      MUST(cuMemUnmap(made.address, made.bytes));
    }
    return CUDA_SUCCESS;
  }

  void End(const Allocation& allocation) {
    switch (allocation.kind) {
      case Kind::kPlain:
      case Kind::kPitch:
      case Kind::kManaged:
        return MUST(cuMemFree(allocation.address));
      case Kind::kAsync:
        MUST(cuMemFreeAsync(allocation.address, nullptr));
        return MUST(cuStreamSynchronize(nullptr));
      case Kind::kPool:
        MUST(cuMemFreeAsync(allocation.address, CU_STREAM_PER_THREAD));
        return MUST(cuStreamSynchronize(CU_STREAM_PER_THREAD));
      case Kind::kMapped:
        MUST(cuMemUnmap(allocation.address, allocation.bytes));
        return MUST(cuMemAddressFree(allocation.address, allocation.bytes));
      case Kind::kRetained:
        MUST(cuMemRelease(allocation.handle));
        return MUST(cuMemAddressFree(allocation.address, allocation.bytes));
      case Kind::kPhysical:
        return MUST(cuMemRelease(allocation.handle));
      case Kind::kCount:
        return;
    }
  }

  CUcontext context_;
  CUmemoryPool pool_;
  std::mt19937 random_;
  std::size_t largest_;
  std::vector<Allocation> live_;
  int refused_ = 0;
};

void Report(const std::vector<Worker>& workers) {
  std::size_t free_bytes = 0, total = 0;
  MUST(cuMemGetInfo(&free_bytes, &total));
  int refused = 0;
  for (const Worker& worker : workers) refused += worker.refused();
  std::printf("free %zu total %zu refused %d\n", free_bytes, total, refused);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int count = std::atoi(argv[1]);
  const int operations = std::atoi(argv[2]);
  MUST(cuInit(0));
  CUcontext context = nullptr;
  MUST(cuDevicePrimaryCtxRetain(&context, 0));
  MUST(cuCtxSetCurrent(context));
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr;
  MUST(cuMemPoolCreate(&pool, &properties));
  std::vector<Worker> workers;
  for (int i = 0; i < count; ++i) {
    workers.emplace_back(context, pool, static_cast<unsigned>(std::atoi(argv[3]) + i),
                         static_cast<std::size_t>(std::atoi(argv[4])) << 10);
  }
  std::vector<std::thread> threads;
  for (Worker& worker : workers) threads.emplace_back([&] { worker.Run(operations / count); });
  for (std::thread& thread : threads) thread.join();
  Report(workers);
  std::getchar();
  for (Worker& worker : workers) worker.EndAll();
  Report(workers);
  return 0;
}
