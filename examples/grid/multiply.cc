#include "examples/grid/multiply.h"

#include "examples/trainer/failure.h"

namespace crossover::grid {
namespace {

constexpr std::uint32_t kThreads = 128;

// A real GPU runs this: one thread computes one element. The first parameter, `ns`, is not used there.
constexpr char kPtx[] = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry grid_multiply(.param .u64 ns, .param .u64 a, .param .u64 b, .param .u64 c, .param .u32 a_row,
                              .param .u32 a_column, .param .u32 b_row, .param .u32 b_column, .param .u32 rows,
                              .param .u32 columns, .param .u32 inner, .param .u32 add) {
  .reg .pred %p<4>; .reg .b32 %r<24>; .reg .b64 %rd<12>; .reg .f32 %f<4>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [rows]; ld.param.u32 %r6, [columns];
  mul.lo.u32 %r7, %r5, %r6;
  setp.ge.u32 %p1, %r4, %r7;
  @%p1 bra done;
  div.u32 %r8, %r4, %r6;
  rem.u32 %r9, %r4, %r6;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];
  ld.param.u32 %r10, [a_row]; ld.param.u32 %r11, [a_column];
  ld.param.u32 %r12, [b_row]; ld.param.u32 %r13, [b_column];
  ld.param.u32 %r14, [inner]; ld.param.u32 %r15, [add];
  mul.wide.u32 %rd4, %r4, 4;
  add.s64 %rd5, %rd3, %rd4;
  mov.f32 %f1, 0f00000000;
  setp.eq.u32 %p2, %r15, 0;
  @%p2 bra begin;
  ld.global.f32 %f1, [%rd5];
begin:
  mul.lo.u32 %r16, %r8, %r10;
  mul.lo.u32 %r17, %r9, %r13;
  mov.u32 %r18, 0;
next:
  setp.ge.u32 %p3, %r18, %r14;
  @%p3 bra store;
  mul.wide.u32 %rd6, %r16, 4; add.s64 %rd7, %rd1, %rd6; ld.global.f32 %f2, [%rd7];
  mul.wide.u32 %rd8, %r17, 4; add.s64 %rd9, %rd2, %rd8; ld.global.f32 %f3, [%rd9];
  fma.rn.f32 %f1, %f2, %f3, %f1;
  add.u32 %r16, %r16, %r11; add.u32 %r17, %r17, %r12; add.u32 %r18, %r18, 1;
  bra next;
store:
  st.global.f32 [%rd5], %f1;
done:
  ret;
}
)";

// The software GPU runs this. The first parameter is the duration, and the host function below computes the
// result.
constexpr char kText[] =
    "// simgpu 1\nkernel grid_multiply ns=arg sms=132 args=8,8,8,8,4,4,4,4,4,4,4,4 fn=grid_multiply_host\n";

void Check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "unknown error";
  cuGetErrorName(result, &name);
  throw trainer::Failure(std::string(call) + ": " + name);
}
#define CHECK(call) Check(call, #call)

template <typename T>
T Argument(void* const* args, int index) {
  return *static_cast<const T*>(args[index]);
}

}  // namespace

// Does what the PTX above does. The software GPU calls it when the kernel ends.
extern "C" void grid_multiply_host(void* const* args) {
  const float* const a = Argument<const float*>(args, 1);
  const float* const b = Argument<const float*>(args, 2);
  float* const c = Argument<float*>(args, 3);
  const auto word = [args](int index) { return Argument<std::uint32_t>(args, index); };
  const std::uint32_t a_row = word(4), a_column = word(5), b_row = word(6), b_column = word(7);
  const std::uint32_t rows = word(8), columns = word(9), inner = word(10);
  for (std::uint32_t i = 0; i < rows; ++i) {
    for (std::uint32_t j = 0; j < columns; ++j) {
      float sum = word(11) != 0 ? c[i * columns + j] : 0;
      for (std::uint32_t k = 0; k < inner; ++k)
        sum += a[i * a_row + k * a_column] * b[k * b_row + j * b_column];
      c[i * columns + j] = sum;
    }
  }
}

Multiplier::Multiplier(std::uint32_t device) {
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device_, static_cast<int>(device)));
  CHECK(cuDevicePrimaryCtxRetain(&context_, device_));
  CHECK(cuCtxSetCurrent(context_));
  // The software GPU loads both images, but runs no PTX. A real driver refuses the text.
  const bool real = cuModuleLoadData(&module_, kText) != CUDA_SUCCESS;
  if (real) CHECK(cuModuleLoadData(&module_, kPtx));
  kernel_ = real ? "PTX" : "the text image";
  CHECK(cuModuleGetFunction(&function_, module_, "grid_multiply"));
  CHECK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
}

Multiplier::~Multiplier() {
  for (const CUdeviceptr allocation : allocations_) cuMemFree(allocation);
  if (stream_ != nullptr) cuStreamDestroy(stream_);
  if (context_ != nullptr) cuDevicePrimaryCtxRelease(device_);
}

CUdeviceptr Multiplier::Allocate(std::size_t floats) {
  CUdeviceptr data = 0;
  CHECK(cuMemAlloc(&data, floats * sizeof(float)));
  allocations_.push_back(data);
  return data;
}

void Multiplier::Upload(CUdeviceptr to, const std::vector<float>& from) {
  CHECK(cuMemcpyHtoDAsync(to, from.data(), from.size() * sizeof(float), stream_));
  Synchronize();
}

std::vector<float> Multiplier::Download(CUdeviceptr from, std::size_t floats) {
  std::vector<float> values(floats);
  CHECK(cuMemcpyDtoHAsync(values.data(), from, floats * sizeof(float), stream_));
  Synchronize();
  return values;
}

void Multiplier::Multiply(const View& a, const View& b, CUdeviceptr to, const Size& size, bool add,
                          std::uint64_t ns) {
  View left = a, right = b;
  Size of = size;
  std::uint32_t adds = add ? 1 : 0;
  void* arguments[] = {&ns,
                       &left.data,
                       &right.data,
                       &to,
                       &left.row_step,
                       &left.column_step,
                       &right.row_step,
                       &right.column_step,
                       &of.rows,
                       &of.columns,
                       &of.inner,
                       &adds};
  const std::uint32_t blocks = (size.rows * size.columns + kThreads - 1) / kThreads;
  CHECK(cuLaunchKernel(function_, blocks, 1, 1, kThreads, 1, 1, 0, stream_, arguments, nullptr));
}

void Multiplier::Synchronize() { CHECK(cuStreamSynchronize(stream_)); }

}  // namespace crossover::grid
