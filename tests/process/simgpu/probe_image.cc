// Loads images that a compiler made, by each call that takes one, and prints what they hold. `list FILE...`
// prints the kernels of each file with their parameters; `run FILE` checks what the kernels, variables and
// linker of one do.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/process/simgpu/probe.h"

namespace {

// A Wrapper is what a compiler puts into a program in front of a fat binary.
struct Wrapper {
  unsigned magic = 0x466243b1, version = 1;
  const void* fatbin = nullptr;
  void* more = nullptr;
};

std::vector<char> Read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  CHECK(!bytes.empty());
  bytes.push_back('\0');
  return bytes;
}

bool IsFatbin(const std::vector<char>& bytes) {
  return std::memcmp(bytes.data(), "\x50\xed\x55\xba", 4) == 0;
}

CUlibrary Load(std::vector<char> bytes) {
  const Wrapper wrapper{.fatbin = bytes.data()};
  CUlibrary library = nullptr;
  const void* image = IsFatbin(bytes) ? static_cast<const void*>(&wrapper) : bytes.data();
  OK(cuLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0));
  std::memset(bytes.data(), 0, bytes.size());  // the library has its own copy
  return library;
}

void Print(const char* name, CUkernel kernel) {
  std::printf("%s", name);
  size_t offset = 0, bytes = 0;
  for (size_t i = 0; cuKernelGetParamInfo(kernel, i, &offset, &bytes) == CUDA_SUCCESS; ++i) {
    std::printf(" %zu+%zu", offset, bytes);
  }
  std::printf("\n");
}

void List(const char* path) {
  const CUlibrary library = Load(Read(path));
  unsigned count = 0;
  OK(cuLibraryGetKernelCount(&count, library));
  std::vector<CUkernel> kernels(count);
  OK(cuLibraryEnumerateKernels(kernels.data(), count, library));
  std::printf("file %s\n", path);
  for (const CUkernel kernel : kernels) {
    const char* name = nullptr;
    CUkernel same = nullptr;
    CUlibrary owner = nullptr;
    OK(cuKernelGetName(&name, kernel));
    OK(cuLibraryGetKernel(&same, library, name));
    OK(cuKernelGetLibrary(&owner, kernel));
    CHECK(same == kernel && owner == library);
    Print(name, kernel);
  }
  OK(cuLibraryUnload(library));
}

// Returns how long one launch takes.
float Milliseconds(CUfunction function, unsigned blocks, unsigned threads, void** parameters) {
  CUevent begin = nullptr, end = nullptr;
  OK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  OK(cuEventRecord(begin, nullptr));
  OK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr));
  OK(cuEventRecord(end, nullptr));
  OK(cuEventSynchronize(end));
  float milliseconds = 0;
  OK(cuEventElapsedTime(&milliseconds, begin, end));
  return milliseconds;
}

void Kernels(CUmodule module) {
  CUfunction plain = nullptr, large = nullptr;
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&plain, module, "absent"));
  OK(cuModuleGetFunction(&plain, module, "plain"));
  OK(cuModuleGetFunction(&large, module, "large"));
  std::vector<char> storage(20000);
  void* parameters[] = {storage.data(), storage.data(), storage.data(), storage.data()};
  // One wave takes 2 us, and each of 20000 further ones 1 us. What is shorter would be a fault.
  const float waves = Milliseconds(plain, 132 * 2 * 20001, 1024, parameters);
  CHECK(waves >= 20.0F);
  EXPECT_RESULT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                cuLaunchKernel(large, 1, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
  OK(cuLaunchKernel(large, 1, 1, 1, 96, 1, 1, 0, nullptr, parameters, nullptr));
  OK(cuCtxSynchronize());
}

void Attributes(CUmodule module) {
  CUfunction typed = nullptr;
  OK(cuModuleGetFunction(&typed, module, "_Z5typedIfEvPT_S0_"));
  char storage[16] = {};
  void* parameters[] = {storage, storage};
  const auto launch = [&](unsigned shared) {
    return cuLaunchKernel(typed, 1, 1, 1, 32, 1, 1, shared, nullptr, parameters, nullptr);
  };
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch(100 << 10));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuFuncSetAttribute(typed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 228 << 10));
  OK(cuFuncSetAttribute(typed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10));
  int bytes = 0;
  OK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, typed));
  CHECK(bytes == 100 << 10);
  OK(launch(100 << 10));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(typed, CU_FUNC_ATTRIBUTE_NUM_REGS, 1));
}

void Globals(CUmodule module, const char* path) {
  CUdeviceptr counter = 0, table = 0, same = 0;
  size_t bytes = 0, free_before = 0, free_after = 0, total = 0;
  OK(cuMemGetInfo(&free_before, &total));
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&counter, &bytes, module, "absent"));
  OK(cuModuleGetGlobal(&counter, &bytes, module, "counter"));
  CHECK(bytes == 4);
  int value = 0;
  OK(cuMemcpyDtoH(&value, counter, sizeof value));
  CHECK(value == 7);
  value = 9;
  OK(cuMemcpyHtoD(counter, &value, sizeof value));
  OK(cuModuleGetGlobal(&same, nullptr, module, "counter"));
  CHECK(same == counter);
  OK(cuModuleGetGlobal(&table, &bytes, module, "table"));
  CHECK(bytes == 400);
  // Another library of the same image has variables of its own, for as long as it is loaded.
  const CUlibrary other = Load(Read(path));
  OK(cuLibraryGetGlobal(&same, nullptr, other, "counter"));
  CHECK(same != counter);
  OK(cuMemcpyDtoH(&value, same, sizeof value));
  CHECK(value == 7);
  OK(cuLibraryUnload(other));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&value, same, sizeof value));
  OK(cuModuleUnload(module));
  OK(cuMemGetInfo(&free_after, &total));
  CHECK(free_after == free_before);
}

void Link(const char* path) {
  std::vector<char> bytes = Read(path);
  const CUjitInputType type = IsFatbin(bytes) ? CU_JIT_INPUT_FATBINARY : CU_JIT_INPUT_CUBIN;
  CUlinkState state = nullptr;
  void* linked = nullptr;
  size_t size = 0;
  OK(cuLinkCreate(0, nullptr, nullptr, &state));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuLinkComplete(state, &linked, &size));
  char ptx[] = "no text";
  EXPECT_RESULT(CUDA_ERROR_INVALID_PTX,
                cuLinkAddData(state, CU_JIT_INPUT_PTX, ptx, sizeof ptx, "ptx", 0, nullptr, nullptr));
  for (const char* unreadable : {"/absent", "/"}) {
    EXPECT_RESULT(CUDA_ERROR_FILE_NOT_FOUND,
                  cuLinkAddFile(state, CU_JIT_INPUT_PTX, unreadable, 0, nullptr, nullptr));
  }
  OK(cuLinkAddData(state, type, bytes.data(), bytes.size() - 1, "first", 0, nullptr, nullptr));
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED,
                cuLinkAddData(state, type, bytes.data(), bytes.size() - 1, "second", 0, nullptr, nullptr));
  OK(cuLinkComplete(state, &linked, &size));
  CHECK(size == bytes.size() - 1 && std::memcmp(linked, bytes.data(), size) == 0);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  OK(cuModuleLoadData(&module, linked));
  OK(cuModuleGetFunction(&function, module, "plain"));
  OK(cuModuleUnload(module));
  OK(cuLinkDestroy(state));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(state));
  CUtensorMap map;
  EXPECT_RESULT(
      CUDA_ERROR_NOT_SUPPORTED,
      cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, nullptr, nullptr, nullptr, nullptr,
                             nullptr, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

// A kernel of this name has the effect of a fill, whatever its code is.
void Effect() {
  const std::string name =
      "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EELb0EEEviT0_T1_";
  const std::string text = ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry " + name +
                           "(.param .u32 count, .param .f32 value, .param .u64 to)\n{ ret; }\n";
  CUmodule module = nullptr;
  CUfunction fill = nullptr;
  CUdeviceptr memory = 0;
  OK(cuModuleLoadData(&module, text.c_str()));
  OK(cuModuleGetFunction(&fill, module, name.c_str()));
  OK(cuMemAlloc(&memory, 1 << 20));
  int count = 1000;
  float value = 2.5F, back[2] = {};
  void* parameters[] = {&count, &value, &memory};
  OK(cuLaunchKernel(fill, 1, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
  OK(cuMemcpyDtoH(back, memory + 999 * sizeof value, sizeof back));
  CHECK(back[0] == 2.5F && back[1] == 0);
  count = 1 << 20;  // more than there is
  OK(cuLaunchKernel(fill, 1, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
  OK(cuCtxSynchronize());
  OK(cuMemcpyDtoH(back, memory + 1000 * sizeof value, sizeof back));
  CHECK(back[0] == 0);
}

}  // namespace

int main(int count, char** arguments) {
  const Program program;
  if (std::string(arguments[1]) == "list") {
    for (int i = 2; i < count; ++i) List(arguments[i]);
    return 0;
  }
  CUmodule module = nullptr;
  EXPECT_RESULT(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/absent"));
  EXPECT_RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, "no image"));
  OK(cuModuleLoad(&module, arguments[2]));
  Kernels(module);
  Attributes(module);
  Globals(module, arguments[2]);
  Link(arguments[2]);
  Effect();
  std::printf("all is well\n");
  return 0;
}
