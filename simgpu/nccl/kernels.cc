#include "simgpu/nccl/kernels.h"

#include <array>
#include <vector>

namespace simgpu::nccl {

namespace {

constexpr std::array<const char*, ncclNumTypes> kTypes{"i8",  "u8",  "i32", "u32",  "i64",    "u64",
                                                       "f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2"};
constexpr std::array<const char*, ncclNumOps> kOps{"Sum", "Prod", "Max", "Min", "Avg"};

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (const auto function : {Function::kBroadcast, Function::kAllGather, Function::kSend}) {
    names.push_back(KernelName({function}));
  }
  for (const auto function : {Function::kAllReduce, Function::kReduce, Function::kReduceScatter}) {
    for (std::uint32_t type = 0; type < ncclNumTypes; ++type) {
      if (!CanReduce(static_cast<ncclDataType_t>(type))) continue;
      for (std::uint32_t op = 0; op < ncclNumOps; ++op) {
        names.push_back(
            KernelName({function, static_cast<ncclDataType_t>(type), static_cast<ncclRedOp_t>(op)}));
      }
    }
  }
  return names;
}

// One thread of each block polls the word, with pauses, until it is cyclically at or past the number. The
// others wait for it at a barrier: 512 threads that read host memory would slow down every other reader.
constexpr const char* kPtxBody = R"((
  .param .u64 done, .param .u32 number, .param .u64 engine)
{
  .reg .pred %waits, %other;
  .reg .b32 %seen, %number, %ahead, %thread;
  .reg .b64 %done;
  mov.u32 %thread, %tid.x;
  setp.ne.u32 %other, %thread, 0;
  @%other bra OVER;
  ld.param.u64 %done, [done];
  ld.param.u32 %number, [number];
  cvta.to.global.u64 %done, %done;
LOOK:
  ld.volatile.global.u32 %seen, [%done];
  sub.s32 %ahead, %seen, %number;
  setp.lt.s32 %waits, %ahead, 0;
  @!%waits bra OVER;
  nanosleep.u32 500;
  bra LOOK;
OVER:
  bar.sync 0;
  ret;
}
)";

}  // namespace

std::string KernelName(const Call& call) {
  if (IsPointToPoint(call.function)) return "ncclDevKernel_SendRecv";
  std::string name = std::string("ncclDevKernel_") + Name(call.function);
  if (Reduces(call.function)) {
    name += std::string("_") + kOps[static_cast<std::size_t>(call.op)];
    name += std::string("_") + kTypes[static_cast<std::size_t>(call.type)];
  }
  return name + "_RING_LL";
}

std::string KernelImage(int sms) {
  std::string image = "// simgpu 1\n";
  for (const std::string& name : AllNames()) {
    image +=
        "kernel " + name + " ns=0 sms=" + std::to_string(sms) + " args=8,4,8 fn=" + kKernelBegin + " spin\n";
  }
  return image;
}

std::string KernelPtx() {
  std::string ptx = ".version 7.0\n.target sm_75\n.address_size 64\n";
  for (const std::string& name : AllNames()) ptx += ".visible .entry " + name + kPtxBody;
  return ptx;
}

}  // namespace simgpu::nccl
