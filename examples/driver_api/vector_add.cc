// Adds two vectors with the CUDA driver API and times that with events. The program knows nothing of the
// software GPU, except that its kernel comes as a text image too, beside the PTX for a real GPU.
//
//   LD_LIBRARY_PATH=<build>/simgpu/lib SIMGPU_MACHINE=1x1 <build>/bin/vector_add
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr unsigned kCount = 1 << 16;
constexpr unsigned kThreads = 256;

// A real GPU runs this: c[i] = a[i] + b[i]. The first parameter, `ns`, is not used there.
constexpr char kPtx[] = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry vector_add(.param .u64 ns, .param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n];
  setp.ge.u32 %p1, %r4, %r5;
  @%p1 bra done;
  mul.wide.u32 %rd1, %r4, 4;
  ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [b]; ld.param.u64 %rd4, [c];
  add.s64 %rd5, %rd2, %rd1; add.s64 %rd6, %rd3, %rd1; add.s64 %rd7, %rd4, %rd1;
  ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
done:
  ret;
}
)";

// The software GPU runs this. The first parameter is the duration, the kernel asks for 64 SMs, and the host
// function below computes the result.
constexpr char kText[] = "// simgpu 1\nkernel vector_add ns=arg sms=64 args=8,8,8,8,4 fn=vector_add_host\n";

void Check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "unknown error";
  cuGetErrorName(result, &name);
  std::fprintf(stderr, "vector_add: %s: %s\n", call, name);
  std::exit(1);
}
#define CHECK(call) Check(call, #call)

}  // namespace

extern "C" void vector_add_host(void* const* args) {
  const float* const a = *static_cast<const float* const*>(args[1]);
  const float* const b = *static_cast<const float* const*>(args[2]);
  float* const c = *static_cast<float* const*>(args[3]);
  const unsigned n = *static_cast<const unsigned*>(args[4]);
  for (unsigned i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

int main() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  // The software GPU loads both images, but runs no PTX. A real driver refuses the text.
  const bool real = cuModuleLoadData(&module, kText) != CUDA_SUCCESS;
  if (real) CHECK(cuModuleLoadData(&module, kPtx));
  CHECK(cuModuleGetFunction(&function, module, "vector_add"));

  std::vector<float> a(kCount), b(kCount), c(kCount);
  for (unsigned i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 0.5f;
  }
  constexpr std::size_t kBytes = kCount * sizeof(float);
  CUdeviceptr device_a = 0, device_b = 0, device_c = 0;
  for (CUdeviceptr* pointer : {&device_a, &device_b, &device_c}) CHECK(cuMemAlloc(pointer, kBytes));
  CHECK(cuMemcpyHtoD(device_a, a.data(), kBytes));
  CHECK(cuMemcpyHtoD(device_b, b.data(), kBytes));

  CUevent begin = nullptr, end = nullptr;
  CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  unsigned long long ns = 2'000'000;
  unsigned n = kCount;
  void* arguments[] = {&ns, &device_a, &device_b, &device_c, &n};
  CHECK(cuEventRecord(begin, nullptr));
  CHECK(cuLaunchKernel(function, kCount / kThreads, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuEventRecord(end, nullptr));
  CHECK(cuMemcpyDtoH(c.data(), device_c, kBytes));
  float milliseconds = 0;
  CHECK(cuEventElapsedTime(&milliseconds, begin, end));

  unsigned wrong = 0;
  for (unsigned i = 0; i < kCount; ++i) wrong += c[i] != a[i] + b[i];
  std::printf("vector_add: %u sums, %u wrong, %.3f ms, kernel from %s\n", kCount, wrong,
              static_cast<double>(milliseconds), real ? "PTX" : "the text image");
  CHECK(cuDevicePrimaryCtxRelease(device));
  return wrong == 0 ? 0 : 1;
}
