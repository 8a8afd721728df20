#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "simgpu/kernels/cost.h"
#include "simgpu/kernels/effect.h"
#include "simgpu/kernels/pages.h"
#include "simgpu/kernels/rules.h"
#include "simgpu/kernels/scalar.h"

namespace simgpu {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

KernelRule Rule(std::initializer_list<std::pair<const char*, const char*>> keys) {
  KernelRule rule;
  std::string error;
  for (const auto& [key, value] : keys) EXPECT_TRUE(SetRuleKey(&rule, key, value, &error)) << error;
  EXPECT_TRUE(CompleteRule(rule, &error)) << error;
  return rule;
}

TEST(KernelCostTest, WavesCount) {
  const KernelRule silent;
  const auto ns = [&](std::uint64_t blocks, std::uint64_t threads) {
    return CostOf(silent, 1, {.blocks = blocks, .threads = threads, .gpu_sms = 132}).ns;
  };
  EXPECT_EQ(ns(1, 1), 2000);
  EXPECT_EQ(ns(132 * 2, 1024), 2000);      // exactly one wave
  EXPECT_EQ(ns(132 * 2 + 1, 1024), 3000);  // one block more
  EXPECT_EQ(ns(132 * 20, 1024), 11000);
  EXPECT_EQ(CostOf(silent, 2.5, {.blocks = 1, .threads = 1, .gpu_sms = 132}).ns, 5000);
  EXPECT_FALSE(CostOf(silent, 1, {}).sms);
}

TEST(KernelCostTest, TheFirstRuleThatFitsDecides) {
  KernelCosts costs;
  costs.rules = {Rule({{"name", "^gemm.*half"}, {"ns", "100"}, {"sms", "7"}}),
                 Rule({{"name", "gemm"}, {"ns", "50.5"}, {"ns_per_wave", "10"}}),
                 Rule({{"name", "copy|fill"}, {"ns_per_kib", "3"}})};
  const LaunchShape shape{.blocks = 6, .threads = 1024, .bytes = 2048, .gpu_sms = 1};
  EXPECT_EQ(CostOf(RuleOf(costs, "gemm_half"), 1, shape).ns, 2100);
  EXPECT_EQ(CostOf(RuleOf(costs, "gemm_half"), 1, shape).sms, 7);
  EXPECT_EQ(CostOf(RuleOf(costs, "my_gemm"), 1, shape).ns, 70.5);
  EXPECT_EQ(CostOf(RuleOf(costs, "a_fill_b"), 1, shape).ns, 4006);
  EXPECT_EQ(CostOf(RuleOf(costs, "other"), 1, shape).ns, 4000);
}

TEST(KernelRuleTest, NamesWhatIsWrong) {
  KernelRule rule;
  std::string error;
  EXPECT_FALSE(SetRuleKey(&rule, "name", "a(b", &error));
  EXPECT_THAT(error, HasSubstr("name: expected a POSIX extended regular expression, got 'a(b' ("));
  EXPECT_FALSE(SetRuleKey(&rule, "name", "", &error));
  EXPECT_FALSE(SetRuleKey(&rule, "ns", "-1", &error));
  EXPECT_EQ(error, "ns: expected a number of ns from 0 to 3600000000000, got -1");
  EXPECT_FALSE(SetRuleKey(&rule, "ns", "nan", &error));
  EXPECT_FALSE(SetRuleKey(&rule, "sms", "1.5", &error));
  EXPECT_EQ(error, "sms: expected a whole number from 1 to 1024, got 1.5");
  EXPECT_FALSE(SetRuleKey(&rule, "speed", "1", &error));
  EXPECT_THAT(error, HasSubstr("unknown key 'speed' of a kernel; known are name, ns"));
  EXPECT_FALSE(CompleteRule(KernelRule{}, &error));
  EXPECT_EQ(error, "name: expected a regular expression in each rule of kernels, got none");
}

// These are names of kernels of torch, without the parts that do not decide.
const std::string kVectorised = "_ZN2at6native29vectorized_elementwise_kernelILi4E";
const std::string kUnrolled = "_ZN2at6native27unrolled_elementwise_kernelI";
const std::string kCasts = "NS0_6memory12LoadWithCastILi1EEENSE_13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_";

std::string FillName(const std::string& type) {
  return kVectorised + "NS0_11FillFunctorI" + type + "EESt5arrayIPcLm1EELb0EEEviT0_T1_";
}
std::string CopyName(const std::string& type) {
  return kVectorised +
         "ZZZNS0_23direct_copy_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE_clEvENKUlvE_clEvEUl" + type +
         "E_St5arrayIPcLm2EELb0EEEviT0_T1_";
}

// Memory that counts as allocated is one vector.
class Arena {
 public:
  explicit Arena(std::size_t bytes) : bytes_(bytes, 0xee) {}
  unsigned char* At(std::size_t offset) { return bytes_.data() + offset; }
  template <class T>
  std::vector<T> Read(std::size_t offset, std::size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), bytes_.data() + offset, count * sizeof(T));
    return values;
  }
  template <class T>
  void Write(std::size_t offset, const std::vector<T>& values) {
    std::memcpy(bytes_.data() + offset, values.data(), values.size() * sizeof(T));
  }
  EffectMemory Memory() {
    return {[this](const void* begin, std::uint64_t size) {
              const auto* at = static_cast<const unsigned char*>(begin);
              return at >= bytes_.data() && at + size <= bytes_.data() + bytes_.size();
            },
            [](void* begin, std::uint64_t size) { std::memset(begin, 0, size); }};
  }

 private:
  std::vector<unsigned char> bytes_;
};

template <class... T>
bool Perform(const Effect& effect, const EffectMemory& memory, unsigned rows, T... values) {
  void* parameters[] = {static_cast<void*>(&values)...};
  return effect.run({parameters, {1, rows, 1}}, memory);
}

TEST(EffectTest, FillWritesItsValue) {
  Arena arena(64);
  const auto effect = EffectOf(FillName("f"), {4, 4, 8});
  ASSERT_TRUE(effect);
  EXPECT_TRUE(Perform(*effect, arena.Memory(), 1, 3, 2.5F, arena.At(8)));
  EXPECT_THAT(arena.Read<float>(8, 3), Each(2.5F));
  EXPECT_EQ(*arena.At(7), 0xee);
  EXPECT_EQ(*arena.At(20), 0xee);
  EXPECT_TRUE(Perform(*effect, arena.Memory(), 1, 2, 0.0F, arena.At(8)));
  EXPECT_THAT(arena.Read<float>(8, 3), ElementsAre(0, 0, 2.5F));
  EXPECT_FALSE(Perform(*effect, arena.Memory(), 1, 100, 1.0F, arena.At(8)));
  EXPECT_THAT(arena.Read<float>(8, 3), ElementsAre(0, 0, 2.5F));
  float value = 1;
  int count = 5;
  unsigned char* to = arena.At(0);
  void* parameters[] = {&count, &value, &to};
  EXPECT_EQ(effect->bytes({parameters, {1, 1, 1}}), 20u);
}

TEST(EffectTest, CopyMovesElements) {
  Arena arena(64);
  arena.Write<std::int64_t>(0, {1, -2});
  struct Pointers {
    unsigned char *to, *from;
  };
  const auto effect = EffectOf(CopyName("l"), {4, 1, 16});
  ASSERT_TRUE(effect);
  EXPECT_TRUE(Perform(*effect, arena.Memory(), 1, 2, 'f', Pointers{arena.At(32), arena.At(0)}));
  EXPECT_THAT(arena.Read<std::int64_t>(32, 2), ElementsAre(1, -2));
  EffectMemory hollow = arena.Memory();
  hollow.hollow_from = 16;
  arena.Write<std::int64_t>(0, {5, 6});
  EXPECT_TRUE(Perform(*effect, hollow, 1, 2, 'f', Pointers{arena.At(32), arena.At(0)}));
  EXPECT_THAT(arena.Read<std::int64_t>(32, 2), ElementsAre(1, -2));
  EXPECT_TRUE(EffectOf(CopyName("N3c108BFloat16E"), {4, 1, 16}));
  EXPECT_FALSE(EffectOf(CopyName("N3c105qint8E"), {4, 1, 16}));
}

TEST(EffectTest, CopyConverts) {
  Arena arena(64);
  arena.Write<float>(0, {1.75F, -3});
  struct Pointers {
    unsigned char *to, *from;
  };
  struct Cast {
    Scalar type;
    std::uint32_t bytes;
  };
  const auto effect = EffectOf(kUnrolled + "ZNS0_23direct_copy_kernel_cudaERNS_1EUllE_St5array" + kCasts,
                               {4, 1, 16, 1, 1, 8, 8});
  ASSERT_TRUE(effect);
  EXPECT_TRUE(Perform(*effect, arena.Memory(), 1, 2, 'f', Pointers{arena.At(32), arena.At(0)}, 'i', 'o',
                      Cast{Scalar::kFloat, 4}, Cast{Scalar::kLong, 8}));
  EXPECT_THAT(arena.Read<std::int64_t>(32, 2), ElementsAre(1, -3));
  const auto named = EffectOf(
      kVectorised +
          "ZNS0_27converting_copy_kernel_cudaIfbEEvRNS_18TensorIteratorBaseEEUlfE_St5arrayIPcLm2EELb0E",
      {4, 1, 16});
  ASSERT_TRUE(named);
  EXPECT_TRUE(EffectOf(kVectorised +
                           "ZNS0_27converting_copy_kernel_cudaIN3c104HalfEfEEvRNS_18TensorIteratorBaseEEUlS4_"
                           "E_St5arrayIPcLm2EELb0E",
                       {4, 1, 16}));
  EXPECT_FALSE(EffectOf(
      kVectorised + "ZNS0_27converting_copy_kernel_cudaIN3c104HalfENS3_11Float8_e5m2EEEvRNS_18Tensor",
      {4, 1, 16}));
  arena.Write<float>(0, {0, -3});
  EXPECT_TRUE(Perform(*named, arena.Memory(), 1, 2, 'f', Pointers{arena.At(32), arena.At(0)}));
  EXPECT_THAT(arena.Read<std::uint8_t>(32, 2), ElementsAre(0, 1));
}

// The parameters of a cat of 32-bit elements with at most 128 operands that are contiguous.
struct CatInputs {
  const unsigned char* pointers[128] = {};
  std::uint32_t offsets[128] = {}, sizes[128] = {}, counts[128] = {};
  bool contiguous[128] = {};
  std::uint32_t shape[8] = {};
};
struct CatShape {
  std::uint32_t sizes[4], strides[4];
};

// Returns two operands with so many elements, of which the first has size 2 and the second size 1 if they
// join.
CatInputs TwoInputs(const unsigned char* first, std::uint32_t first_count, const unsigned char* second,
                    std::uint32_t second_count) {
  CatInputs inputs;
  inputs.pointers[0] = first;
  inputs.pointers[1] = second;
  inputs.sizes[0] = 2;
  inputs.sizes[1] = 1;
  inputs.offsets[1] = 2;
  inputs.counts[0] = first_count;
  inputs.counts[1] = second_count;
  return inputs;
}

std::string CatName(const std::string& kind, const std::string& numbers) {
  return "_ZN2at6native40_GLOBAL__N__f1f992fe_8_Shape_cu_49f7391c" + kind + "INS1_10OpaqueTypeILj4EEEj" +
         numbers +
         "EEvPT_NS1_25CatArrInputTensorMetadataIS5_T0_XT2_EXT3_EEENS1_16TensorSizeStrideIS8_Lj4EEEiS8_";
}

// The parameter of a loop over strided tensors, for one of 2 x 3 elements and its transposed result.
struct StridedCopy {
  std::uint32_t dims = 2;
  std::uint32_t sizes[25][3] = {{2}, {3}};
  std::uint32_t strides[25][2] = {{4, 12}, {8, 4}};  // bytes, of the result and of the operand
  unsigned char* pointers[2] = {};
  unsigned char function = 0;
  Scalar types[2] = {};
  unsigned char unused[13] = {};
};
static_assert(sizeof(StridedCopy) == 536);

TEST(EffectTest, StridedTensorsAreCopiedAndConverted) {
  Arena arena(128);
  arena.Write<float>(0, {1, 2, 3, 4, 5, 6});
  StridedCopy copy;
  copy.pointers[0] = arena.At(64);
  copy.pointers[1] = arena.At(0);
  const std::string loop = "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_";
  const std::string lambda =
      "IZZZNS0_23direct_copy_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE1_clEvENKUlvE5_clEvEUlfE_EEvS4_RKT_"
      "EUliE_";
  const auto plain = EffectOf(loop + "22gpu_kernel_impl_nocast" + lambda, {4, sizeof copy});
  ASSERT_TRUE(plain);
  EXPECT_TRUE(Perform(*plain, arena.Memory(), 1, 6, copy));
  EXPECT_THAT(arena.Read<float>(64, 6), ElementsAre(1, 4, 2, 5, 3, 6));
  const auto cast = EffectOf(loop + "15gpu_kernel_impl" + lambda, {4, sizeof copy});
  ASSERT_TRUE(cast);
  copy.types[0] = Scalar::kInt;
  copy.types[1] = Scalar::kFloat;
  EXPECT_TRUE(Perform(*cast, arena.Memory(), 1, 6, copy));
  EXPECT_THAT(arena.Read<std::int32_t>(64, 6), ElementsAre(1, 4, 2, 5, 3, 6));
  copy.strides[1][1] = 100;
  EXPECT_FALSE(Perform(*cast, arena.Memory(), 1, 6, copy));
}

TEST(EffectTest, CatJoinsAlongADimension) {
  // The result has the rows [1 2 | 5] and [3 4 | 6].
  Arena arena(128);
  arena.Write<std::int32_t>(0, {1, 2, 3, 4});
  arena.Write<std::int32_t>(32, {5, 6});
  const CatInputs inputs = TwoInputs(arena.At(0), 4, arena.At(32), 2);
  const auto effect =
      EffectOf(CatName("26CatArrayBatchedCopy_contig", "Li2ELi128ELi1E"), {8, 2720, 32, 4, 4});
  ASSERT_TRUE(effect);
  EXPECT_TRUE(Perform(*effect, arena.Memory(), 2, arena.At(64), inputs, CatShape{{2, 3}, {3, 1}}, 1, 1u));
  EXPECT_THAT(arena.Read<std::int32_t>(64, 6), ElementsAre(1, 2, 5, 3, 4, 6));
  arena.Write<std::int32_t>(0, {7, 7, 7, 7});
  for (const unsigned char* end : {arena.At(128), arena.At(124)}) {  // the second operand is not all there
    const CatInputs beyond = TwoInputs(arena.At(0), 4, end, 2);
    EXPECT_FALSE(Perform(*effect, arena.Memory(), 2, arena.At(64), beyond, CatShape{{2, 3}, {3, 1}}, 1, 1u));
    EXPECT_THAT(arena.Read<std::int32_t>(64, 6), ElementsAre(1, 2, 5, 3, 4, 6));
  }
  EXPECT_FALSE(EffectOf(CatName("26CatArrayBatchedCopy_contig", "Li2ELi128ELi1E"), {8, 2728, 32, 4, 4}));
  EXPECT_FALSE(EffectOf(CatName("26CatArrayBatchedCopy_contig", "Li9ELi128ELi1E"), {8, 2720, 32, 4, 4}));
}

TEST(EffectTest, VectorisedCatCountsInVectors) {
  Arena arena(256);
  std::vector<std::int32_t> first(8), second(4);
  std::iota(first.begin(), first.end(), 1);
  std::iota(second.begin(), second.end(), 100);
  arena.Write(0, first);
  arena.Write(64, second);
  const CatInputs inputs = TwoInputs(arena.At(0), 8, arena.At(64), 4);
  const auto effect =
      EffectOf(CatName("30CatArrayBatchedCopy_vectorized", "Li1ELi128ELi1ELi16ELi4E"), {8, 2720, 32, 4, 4});
  ASSERT_TRUE(effect);
  EXPECT_TRUE(Perform(*effect, arena.Memory(), 2, arena.At(128), inputs, CatShape{{3}, {1}}, 0, 4u));
  EXPECT_THAT(arena.Read<std::int32_t>(128, 12), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 100, 101, 102, 103));
}

// A TensorList is what PyTorch passes to the kernel that searches for gradients which are not finite.
struct TensorList {
  unsigned char* addresses[770] = {};
  std::int64_t elements[770] = {};
  std::uint16_t tensor_of_block[2240] = {};
  std::int32_t chunk_of_block[2240] = {};
  std::int32_t first_tensor = 0;
};
struct Search {
  float* found;
  const float* inverse_scale;
  const void* unused;
};

std::string SearchName(const std::string& type, const std::string& tensors = "1") {
  return "_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi" + tensors +
         "EEENS1_14UnaryOpFunctorI" + type +
         "Li1ELi1ELi0EEEJZZZNS0_47_amp_foreach_non_finite_check_and_unscale_cuda_EN3c108ArrayRefINS_"
         "6TensorEEE"
         "E1_ffEPfPKfEEEvT_T0_DpT1_";
}

// Runs the search in two tensors of 70 000 and 4 elements of float, in three blocks, of which two are in the
// first.
bool PerformSearch(const Effect& effect, Arena* arena, float* found) {
  TensorList list;
  list.addresses[0] = arena->At(0);
  list.addresses[1] = arena->At(280'000);
  list.elements[0] = 70'000;
  list.elements[1] = 4;
  list.tensor_of_block[2] = 1;
  list.chunk_of_block[1] = 1;
  Search search{found, nullptr, nullptr};
  char functor = 0;
  void* parameters[] = {&list, &functor, &search};
  EXPECT_EQ(effect.bytes({parameters, {3, 1, 1}}), 2u * 4 * 70'004);
  return effect.run({parameters, {3, 1, 1}}, arena->Memory());
}

TEST(EffectTest, SearchFindsGradientsThatAFillMadeInfinite) {
  const auto effect = EffectOf(SearchName("f"), {25'768, 1, 24});
  ASSERT_TRUE(effect);
  constexpr std::size_t kFound = 280'016;
  Arena arena(kFound + 4);
  auto* found = reinterpret_cast<float*>(arena.At(kFound));
  const std::vector<float> infinite(70'000, INFINITY), four(4, -INFINITY);
  const struct {
    std::vector<float> first, second;
    float found;
  } cases[] = {{std::vector<float>(70'000, 1.0F), {1, INFINITY, NAN, 1}, 0},  // values by chance
               {infinite, {1, 1, 1, 1}, 1},
               {std::vector<float>(70'000, 1.0F), four, 1}};
  for (const auto& each : cases) {
    arena.Write(0, each.first);
    arena.Write(280'000, each.second);
    arena.Write<float>(kFound, {0});
    EXPECT_TRUE(PerformSearch(*effect, &arena, found));
    EXPECT_THAT(arena.Read<float>(kFound, 1), ElementsAre(each.found));
    EXPECT_THAT(arena.Read<float>(0, 2), ElementsAre(each.first[0], each.first[1])) << "gradients stay";
  }
  Arena shorter(280'000);
  EXPECT_FALSE(PerformSearch(*effect, &shorter, found));
  EXPECT_TRUE(EffectOf(SearchName("N3c104HalfE"), {25'768, 1, 24}));
  EXPECT_FALSE(EffectOf(SearchName("N3c105qint8E"), {25'768, 1, 24}));
  EXPECT_FALSE(EffectOf(SearchName("f"), {3368, 1, 16})) << "parameters of another version";
  EXPECT_FALSE(EffectOf(SearchName("f", "2"), {25'768, 1, 24})) << "another kernel";
}

TEST(EffectTest, ScaleFallsAfterASkippedStepAndGrowsAfterAnInterval) {
  const auto effect = EffectOf("_ZN2at6native28amp_update_scale_cuda_kernelEPfPiPKfddi", {8, 8, 8, 8, 8, 4});
  ASSERT_TRUE(effect);
  Arena arena(12);
  arena.Write<float>(0, {1024});
  arena.Write<std::int32_t>(4, {0});
  const auto step = [&](float found) {
    arena.Write<float>(8, {found});
    return Perform(*effect, arena.Memory(), 1, arena.At(0), arena.At(4), arena.At(8), 2.0, 0.5, 3);
  };
  const auto scale_after = [&](float found) {
    EXPECT_TRUE(step(found));
    return arena.Read<float>(0, 1)[0];
  };
  EXPECT_EQ(scale_after(1), 512);
  EXPECT_EQ(scale_after(0), 512);
  EXPECT_EQ(scale_after(0), 512);
  EXPECT_EQ(scale_after(0), 1024) << "the third in a row";
  EXPECT_EQ(arena.Read<std::int32_t>(4, 1)[0], 0);
  arena.Write<float>(0, {3e38F});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(scale_after(0), 3e38F) << "it stays finite";
  EXPECT_FALSE(Perform(*effect, arena.Memory(), 1, arena.At(0), arena.At(4), arena.At(12), 2.0, 0.5, 3));
  EXPECT_FALSE(EffectOf("_ZN2at6native28amp_update_scale_cuda_kernelEPfPiPKfddi", {8, 8, 8, 8, 8}));
}

TEST(EffectTest, OtherKernelsHaveNone) {
  EXPECT_FALSE(EffectOf("gemm", {8, 8}));
  EXPECT_FALSE(EffectOf(FillName("f"), {4, 4}));  // parameters of another version
  EXPECT_FALSE(EffectOf("_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_11FillFunctorIfEE", {4, 400}));
}

TEST(ScalarTest, RoundsHalvesToTheNearest) {
  const auto convert = [](double value, Scalar type) {
    std::uint16_t bits = 0;
    Convert(&value, Scalar::kDouble, &bits, type, 1);
    double back = 0;
    Convert(&bits, type, &back, Scalar::kDouble, 1);
    return std::pair(bits, back);
  };
  EXPECT_EQ(convert(1, Scalar::kHalf).first, 0x3c00);
  EXPECT_EQ(convert(-65504, Scalar::kHalf).first, 0xfbff);
  EXPECT_EQ(convert(65519, Scalar::kHalf).first, 0x7bff);
  EXPECT_EQ(convert(65520, Scalar::kHalf).first, 0x7c00);
  EXPECT_EQ(convert(2049, Scalar::kHalf).second, 2048);  // the even one of two
  EXPECT_EQ(convert(2051, Scalar::kHalf).second, 2052);
  EXPECT_EQ(convert(5.9604644775390625e-8, Scalar::kHalf).first, 1);
  EXPECT_EQ(convert(6.103515625e-5, Scalar::kHalf).first, 0x400);
  EXPECT_EQ(convert(1.5, Scalar::kBFloat16).first, 0x3fc0);
  EXPECT_EQ(convert(257, Scalar::kBFloat16).second, 256);
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {  // every half comes back as it is
    const auto half = static_cast<std::uint16_t>(bits);
    float value = 0;
    std::uint16_t back = 1;
    Convert(&half, Scalar::kHalf, &value, Scalar::kFloat, 1);
    Convert(&value, Scalar::kFloat, &back, Scalar::kHalf, 1);
    ASSERT_EQ(back, half);
  }
}

TEST(ScalarTest, KeepsIntegersExactly) {
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  std::uint64_t copy = 0;
  Convert(&large, Scalar::kLong, &copy, Scalar::kUInt64, 1);
  EXPECT_EQ(copy, static_cast<std::uint64_t>(large));
  const float values[] = {-1.9F, 300};
  std::int32_t whole[2];
  Convert(values, Scalar::kFloat, whole, Scalar::kInt, 2);
  EXPECT_THAT(whole, ElementsAre(-1, 300));
  float complex[2];
  Convert(values, Scalar::kFloat, complex, Scalar::kComplexFloat, 1);
  EXPECT_THAT(complex, ElementsAre(-1.9F, 0));
}

// Returns how many of the pages are in memory.
std::size_t Resident(void* begin, std::size_t bytes) {
  std::vector<unsigned char> pages(bytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(mincore(begin, bytes, pages.data()), 0);
  return static_cast<std::size_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return p & 1; }));
}

TEST(PagesTest, LargeFillsGivePagesBack) {
  constexpr std::size_t kBytes = 1 << 20;
  const int file = memfd_create("pages", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, kBytes), 0);
  void* shared[] = {mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
                    mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)};
  void* own = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* copied = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  for (void* memory : {own, shared[0], copied}) {
    auto* bytes = static_cast<unsigned char*>(memory);
    std::memset(bytes, 0xee, kBytes);
    WriteZeros(bytes + 100, kBytes - 200);
    EXPECT_EQ(bytes[99], 0xee);
    EXPECT_EQ(bytes[kBytes - 100], 0xee);
    EXPECT_TRUE(std::all_of(bytes + 100, bytes + kBytes - 100, [](unsigned char byte) { return byte == 0; }));
  }
  WriteZeros(own, kBytes);
  WriteZeros(shared[0], kBytes);
  EXPECT_EQ(Resident(own, kBytes), 0u);
  EXPECT_EQ(Resident(shared[0], kBytes), 0u);
  const auto* other = static_cast<unsigned char*>(shared[1]);  // another process that maps the same memory
  EXPECT_TRUE(std::all_of(other, other + kBytes, [](unsigned char byte) { return byte == 0; }));
}

}  // namespace
}  // namespace simgpu
