// Reads images that the test makes, and texts that the Zstandard and LZ4 programs packed. The images of
// NVIDIA's compiler are read in tests/process/simgpu/test_images.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "simgpu/image/cubin.h"
#include "simgpu/image/fatbin.h"
#include "simgpu/image/lazy.h"
#include "simgpu/image/lz4.h"
#include "simgpu/image/ptx.h"
#include "simgpu/image/zstd.h"
#include "tests/fuzz/image_maker.h"
#include "tests/fuzz/story.h"

namespace simgpu::image {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string Text(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

const KernelImage* Find(const Image& image, const std::string& name) {
  for (const KernelImage& kernel : image.kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

void ExpectSomeCubin(const Image& image) {
  ASSERT_EQ(image.kernels.size(), 4u);
  const KernelImage* plain = Find(image, "plain");
  ASSERT_NE(plain, nullptr);
  EXPECT_THAT(plain->parameters,
              ElementsAre(Parameter{0, 8}, Parameter{8, 4}, Parameter{12, 12}, Parameter{24, 8}));
  EXPECT_EQ(plain->registers, 17);
  EXPECT_EQ(plain->shared_bytes, 1280u);
  const KernelImage* large = Find(image, "large");
  ASSERT_NE(large, nullptr);
  EXPECT_THAT(large->parameters, ElementsAre(Parameter{0, 20000}, Parameter{20000, 8}, Parameter{20008, 2}));
  EXPECT_EQ(large->most_threads, 96);
  ASSERT_NE(Find(image, "_Z4nonev"), nullptr);
  EXPECT_TRUE(Find(image, "_Z4nonev")->parameters.empty());
  ASSERT_EQ(image.globals.size(), 2u);
  EXPECT_EQ(image.globals[0].name, "counter");
  EXPECT_THAT(image.globals[0].initial, ElementsAre(7, 0, 0, 0));
  EXPECT_EQ(image.globals[1].bytes, 400u);
  EXPECT_TRUE(image.globals[1].initial.empty());
}

TEST(CubinTest, ReadsKernelsAndVariables) {
  Bytes bytes = SomeCubin(89);
  const std::size_t size = bytes.size();
  bytes.resize(size + 100);  // a program gives a pointer alone, and what follows is not the image's
  std::string error;
  EXPECT_EQ(SizeOfCubin(bytes, &error), size);
  const auto image = ParseCubin(bytes, &error);
  ASSERT_TRUE(image) << error;
  EXPECT_EQ(image->architecture, 89);
  ExpectSomeCubin(*image);
}

TEST(CubinTest, NamesWhatIsWrong) {
  const Bytes good = SomeCubin();
  const auto refusal_with = [&](std::size_t at, std::uint8_t value) {
    Bytes bytes = good;
    bytes[at] = value;
    std::string error;
    EXPECT_FALSE(ParseCubin(bytes, &error));
    return error;
  };
  EXPECT_THAT(refusal_with(0, 'x'), StartsWith("ELF header: expected"));
  EXPECT_THAT(refusal_with(EI_CLASS, 1), "ELF class: expected 2 (64 bits), got 1");
  EXPECT_THAT(refusal_with(offsetof(Elf64_Ehdr, e_machine), 62),
              "ELF machine: expected 190 (NVIDIA CUDA), got 62");
  EXPECT_THAT(refusal_with(offsetof(Elf64_Ehdr, e_shoff) + 3, 9),
              HasSubstr("sections: expected to lie within"));
  EXPECT_THAT(refusal_with(offsetof(Elf64_Ehdr, e_shstrndx), 200),
              StartsWith("number of the section of names"));
  std::string error;
  EXPECT_FALSE(ParseCubin(View(good).first(good.size() - 1), &error));
  EXPECT_THAT(error, HasSubstr("to lie within the file"));
}

TEST(FatbinTest, ChoosesForTheGpu) {
  const Bytes cubin = SomeCubin(80);
  const std::string text = ".version 9.0\n.target sm_75\n.entry old() {}\n";
  const Bytes ptx(text.begin(), text.end());
  const Bytes fatbin = MakeFatbin({{.kind = 1, .architecture = 75, .content = ptx},
                                   {.architecture = 80, .content = cubin},
                                   {.architecture = 86, .content = cubin},
                                   {.architecture = 100, .content = cubin},
                                   {.kind = 1, .architecture = 90, .content = ptx}});
  struct Case {
    int gpu;
    Form form;
    int chosen;
  };
  for (const Case& one : {Case{80, Form::kCubin, 80}, Case{86, Form::kCubin, 86}, Case{89, Form::kCubin, 86},
                          Case{90, Form::kPtx, 90}, Case{75, Form::kPtx, 75}, Case{103, Form::kCubin, 100}}) {
    const Choice choice = Choose(fatbin, one.gpu);
    ASSERT_EQ(choice.state, Choice::State::kChosen) << one.gpu << choice.text;
    EXPECT_EQ(choice.payload.form, one.form) << one.gpu;
    EXPECT_EQ(choice.payload.architecture, one.chosen) << one.gpu;
  }
  const Choice none = Choose(fatbin, 70);
  EXPECT_EQ(none.state, Choice::State::kNoneFits);
  EXPECT_EQ(
      none.text,
      "fat binary: expected an image for sm_70, got those for compute_75 sm_80 sm_86 sm_100 compute_90");
}

TEST(FatbinTest, UnpacksWhatItChose) {
  const Bytes cubin = SomeCubin();
  const MadeEntry entries[] = {{.content = cubin},
                               {.content = PackLz4(cubin), .flags = 0x2011, .unpacked = cubin.size()},
                               {.content = PackZstd(cubin), .flags = 0x8011, .unpacked = cubin.size()}};
  for (const MadeEntry& entry : entries) {
    const Bytes fatbin = MakeFatbin({entry});
    const Choice choice = Choose(fatbin, 90);
    ASSERT_EQ(choice.state, Choice::State::kChosen) << choice.text;
    std::string error;
    const auto image = Parse(choice.payload, &error);
    ASSERT_TRUE(image) << error;
    ExpectSomeCubin(*image);
  }
}

TEST(FatbinTest, NamesWhatIsWrong) {
  const Bytes good = MakeFatbin({{.content = SomeCubin()}});
  Bytes cut = good;
  cut.resize(good.size() - 1);
  EXPECT_EQ(Choose(cut, 90).state, Choice::State::kMalformed);
  EXPECT_THAT(Choose(cut, 90).text, StartsWith("fat binary: expected " + std::to_string(good.size() - 16)));
  Bytes version = good;
  version[4] = 7;
  EXPECT_THAT(Choose(version, 90).text, HasSubstr("got version 7 and 16 bytes"));
  Bytes entry = good;
  entry[16 + 4] = 8;
  EXPECT_THAT(Choose(entry, 90).text,
              "fat binary, entry at 0: expected a header of at least 64 bytes, got 8");
  const std::string other = "no image";
  const Choice unknown = Choose(View(reinterpret_cast<const std::uint8_t*>(other.data()), other.size()), 90);
  EXPECT_EQ(unknown.state, Choice::State::kUnknownForm);
  EXPECT_THAT(unknown.text, HasSubstr("bytes that begin with 0x69206f6e"));
}

TEST(LazyImageTest, FollowsAWrapperAndKeepsWhatItNeeds) {
  Bytes fatbin = MakeFatbin({{.content = SomeCubin()}});
  Wrapper wrapper{kWrapperMagic, 1, fatbin.data(), nullptr};
  const Choice choice = ChooseAt(&wrapper, 90);
  ASSERT_EQ(choice.state, Choice::State::kChosen) << choice.text;
  LazyImage image(choice.payload, false);
  std::fill(fatbin.begin(), fatbin.end(), 0);  // the program may free it
  std::string error;
  ASSERT_NE(image.Get(&error), nullptr) << error;
  ExpectSomeCubin(*image.Get(&error));
  wrapper.version = 2;
  EXPECT_THAT(ChooseAt(&wrapper, 90).text, HasSubstr("version 1 and a fat binary, got version 2"));
}

TEST(LazyImageTest, RepeatsItsError) {
  Bytes cubin = SomeCubin();
  const Choice choice = Choose(cubin, 90);
  ASSERT_EQ(choice.state, Choice::State::kChosen);
  cubin[EI_CLASS] = 9;
  LazyImage image(choice.payload, true);
  for (int i = 0; i < 2; ++i) {
    std::string error;
    EXPECT_EQ(image.Get(&error), nullptr);
    EXPECT_THAT(error, StartsWith("ELF class"));
  }
}

// Each file holds the size of its text, modulo 65536, and the packed text.
std::vector<std::uint8_t> Packed(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_GT(bytes.size(), 2u) << path;
  bytes.erase(bytes.begin(), bytes.begin() + 2);
  return bytes;
}

TEST(ZstdTest, UnpacksWhatItsOwnProgramPacked) {
  struct Case {
    std::string file;
    std::string text;
  };
  const std::string seeds = SEEDS, images = IMAGES;
  const Case cases[] = {{seeds + "/zstd_one_stream", Story(200)},
                        {seeds + "/zstd_four_streams", Story(1500)},
                        {seeds + "/zstd_fast", Story(1500)},
                        {seeds + "/zstd_checksum", Story(1500)},
                        {seeds + "/zstd_runs", std::string(3000, 'a') + Story(100) + std::string(9000, '\0')},
                        {images + "/zstd_two_blocks", Story(135000)}};
  for (const Case& one : cases) {
    std::vector<std::uint8_t> packed = Packed(one.file);
    std::string error;
    const auto text = UnpackZstd(packed, one.text.size(), &error);
    ASSERT_TRUE(text) << one.file << ": " << error;
    EXPECT_EQ(Text(*text), one.text) << one.file;
    EXPECT_FALSE(UnpackZstd(packed, one.text.size() - 1, &error)) << one.file;
    EXPECT_THAT(error, StartsWith("Zstandard frame: expected"));
    packed.pop_back();
    EXPECT_FALSE(UnpackZstd(packed, one.text.size(), &error)) << one.file;
  }
}

TEST(ZstdTest, GoesThroughSeveralFrames) {
  const std::string text = Story(300);
  Bytes packed = {0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3};  // a frame to skip
  for (const Bytes& half : {Bytes(text.begin(), text.begin() + 100), Bytes(text.begin() + 100, text.end())}) {
    const Bytes frame = PackZstd(half);
    packed.insert(packed.end(), frame.begin(), frame.end());
  }
  std::string error;
  const auto unpacked = UnpackZstd(packed, text.size(), &error);
  ASSERT_TRUE(unpacked) << error;
  EXPECT_EQ(Text(*unpacked), text);
}

TEST(Lz4Test, UnpacksWhatItsOwnProgramPacked) {
  std::vector<std::uint8_t> packed = Packed(std::string(SEEDS) + "/lz4_block");
  std::string error;
  const auto text = UnpackLz4(packed, 1500, &error);
  ASSERT_TRUE(text) << error;
  EXPECT_EQ(Text(*text), Story(1500));
  EXPECT_FALSE(UnpackLz4(packed, 1499, &error));
  EXPECT_EQ(error, "LZ4 block: expected 1499 bytes, got more bytes");
  EXPECT_FALSE(UnpackLz4(packed, 1501, &error));
  EXPECT_EQ(error, "LZ4 block: expected 1501 bytes, got 1500");
}

TEST(Lz4Test, RepeatsAMatchThatOverlapsItself) {
  const Bytes packed = {0x2a, 'a',  'b', 2,
                        0,    0x10, 'c'};  // "ab", then 14 bytes from 2 bytes before, then "c"
  std::string error;
  const auto text = UnpackLz4(packed, 17, &error);
  ASSERT_TRUE(text) << error;
  EXPECT_EQ(Text(*text), "ababababababababc");
  EXPECT_FALSE(UnpackLz4(Bytes{0x1a, 'a', 2, 0, 0x10, 'c'}, 16, &error));
  EXPECT_THAT(error, HasSubstr("a match before the first byte"));
}

TEST(PtxTest, ReadsKernelsAndVariables) {
  const std::string text = R"(
    /* .entry no() {} */ // .entry neither() {}
    .version 9.0
    .target sm_90a, debug
    .address_size 64
    .extern .shared .align 16 .b8 raw[];
    .extern .global .u32 elsewhere;
    .global .align 4 .u32 counter = 7;
    .global .align 8 .b8 table[4][100];
    .const .f32 pair[2] = {0f3F800000, -2};
    .visible .func (.param .u32 out) helper(.param .u64 .ptr .global .align 8 p) { .global .u32 x; ret; }
    .entry declared(.param .u64 a);
    .visible .entry plain(.param .u64 .ptr .global .align 16 a, .param .u32 b, .param .align 4 .b8 c[12],
                          .param .v2 .f32 d, .param .f16x2 e)
    .maxntid 32, 3, 1
    { { ret; } }
    .entry none() { ret; })";
  ASSERT_TRUE(IsPtx(text));
  EXPECT_EQ(ArchitectureOfPtx(text), 90);
  std::string error;
  const auto image = ParsePtx(text, &error);
  ASSERT_TRUE(image) << error;
  ASSERT_EQ(image->kernels.size(), 2u);
  EXPECT_EQ(image->kernels[0].name, "plain");
  EXPECT_THAT(image->kernels[0].parameters, ElementsAre(Parameter{0, 8}, Parameter{8, 4}, Parameter{12, 12},
                                                        Parameter{24, 8}, Parameter{32, 4}));
  EXPECT_EQ(image->kernels[0].most_threads, 96);
  EXPECT_EQ(image->kernels[1].name, "none");
  ASSERT_EQ(image->globals.size(), 3u);
  EXPECT_THAT(image->globals[0].initial, ElementsAre(7, 0, 0, 0));
  EXPECT_EQ(image->globals[1].bytes, 400u);
  EXPECT_THAT(image->globals[2].initial, ElementsAre(0, 0, 0x80, 0x3f, 0xfe, 0xff, 0xff, 0xff));
}

TEST(PtxTest, NamesTheLine) {
  struct Case {
    const char* text;
    const char* complaint;
  };
  const Case cases[] = {{".entry 7()", "PTX line 3: expected the name of a kernel behind .entry, got '7'"},
                        {".entry k(.param u64 a) {}", "expected a type in front of the name, got 'u64'"},
                        {".entry k(.reg .u64 a) {}", "expected '.param' in the list of kernel 'k'"},
                        {".entry k() {", "expected the end of kernel 'k'"},
                        {".entry k()", "expected the body of kernel 'k'"},
                        {".entry k(.param .b8 a[32765]) {}", "expected a number of elements, got '32765'"},
                        {".global .align 0 .u32 x;", "expected an alignment from 1 to 128, got '0'"},
                        {".global .u32 x = 7", "expected the end of the value of 'x'"},
                        {".target compute_90", "expected a target such as sm_90"}};
  for (const Case& one : cases) {
    std::string error;
    EXPECT_FALSE(ParsePtx(std::string(".version 9.0\n.target sm_90\n") + one.text, &error)) << one.text;
    EXPECT_THAT(error, HasSubstr(one.complaint)) << one.text;
  }
  EXPECT_FALSE(IsPtx("version 9.0"));
  EXPECT_FALSE(IsPtx("// .version 9.0"));
}

}  // namespace
}  // namespace simgpu::image
