// Tests what is read of the tail of an ncclUniqueId, and when it is written.
#include "shrink/meeting/tail.h"

#include <gtest/gtest.h>

#include <cstring>

namespace crossover::shrink::meeting {
namespace {

using vote::Id;

const Place kPlace{FromIpv4({10, 1, 2, 3}), 40'000};

// Returns an ID as NCCL makes it: a magic number, a socket address of IPv4, zeros.
Id NcclId() {
  Id id{};
  for (std::size_t i = 0; i < 8; ++i) id[i] = static_cast<std::uint8_t>(0xa0 + i);
  const std::uint8_t address[] = {2, 0, 0x12, 0x34, 10, 1, 2, 3};
  std::memcpy(id.data() + 8, address, sizeof address);
  return id;
}

Id Written(const Place& place = kPlace) {
  Id id = NcclId();
  EXPECT_TRUE(WriteTail(place, &id));
  return id;
}

TEST(TailTest, ItComesBack) {
  const Place ipv6{{{0xfd, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, 7}, 1};
  for (const Place& place : {kPlace, ipv6}) {
    const Tail tail = ReadTail(Written(place));
    EXPECT_EQ(tail.kind, TailKind::kPlace);
    EXPECT_EQ(tail.place, place);
  }
}

TEST(TailTest, TheWordsOfNcclStay) {
  const Id before = NcclId(), after = Written();
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + kTailAt, after.begin()));
}

TEST(TailTest, ZerosSayNothing) { EXPECT_EQ(ReadTail(NcclId()).kind, TailKind::kNone); }

TEST(TailTest, ATailThatIsNotZeroIsNotWritten) {
  for (const std::size_t at : {kZeroFrom, kTailAt - 1, kTailAt, vote::kIdBytes - 1}) {
    Id id = NcclId();
    id[at] = 1;
    const Id before = id;
    EXPECT_FALSE(WriteTail(kPlace, &id)) << at;
    EXPECT_EQ(id, before) << at;
    EXPECT_EQ(ReadTail(id).kind, TailKind::kUnknown) << at;
  }
}

TEST(TailTest, NcclMayUseTheFirstHalf) {
  Id id = NcclId();
  id[kZeroFrom - 1] = 1;
  EXPECT_TRUE(WriteTail(kPlace, &id));
}

// Returns why a tail is refused whose byte `at` is `value`.
std::string WhyRefused(std::size_t at, std::uint8_t value) {
  Id id = Written();
  id[at] = value;
  const Tail tail = ReadTail(id);
  EXPECT_EQ(tail.kind, TailKind::kUnknown);
  return std::string(tail.reason.view());
}

TEST(TailTest, WhatItDoesNotKnowIsRefusedInWords) {
  EXPECT_EQ(WhyRefused(kTailAt, 0), "tail of the unique ID: magic: expected 4c544f43, got 4c544f00");
  EXPECT_EQ(WhyRefused(kTailAt + 4, 2), "tail of the unique ID: version: expected 1, got 2");
  EXPECT_EQ(WhyRefused(vote::kIdBytes - 1, 1), "tail of the unique ID: reserved: expected 0, got 16777216");
  EXPECT_EQ(WhyRefused(kZeroFrom, 1), "tail of the unique ID: bytes 64 to 95: expected zeros, got others");
  EXPECT_EQ(WhyRefused(kTailAt + 20, 224),
            "tail of the unique ID: address: expected that of a host, got another");
  Id id = Written();
  id[kTailAt + 6] = id[kTailAt + 7] = 0;
  EXPECT_EQ(ReadTail(id).reason.view(), "tail of the unique ID: port: expected 1 to 65535, got 0");
}

TEST(TailTest, AnAddressOfNoHostIsRefused) {
  for (const Address& address : {Address{}, FromIpv4({0, 0, 0, 0}), Address{{0xff, 2}, 0}})
    EXPECT_EQ(ReadTail(Written({address, 1})).kind, TailKind::kUnknown);
}

TEST(TailTest, ATailThatIsCutSaysNothing) {
  Id id = Written();
  std::fill(id.begin() + kZeroFrom, id.end(), std::uint8_t{0});
  EXPECT_EQ(ReadTail(id).kind, TailKind::kNone);
}

TEST(TailTest, TheAddressOfNccl) {
  EXPECT_EQ(AddressOfNccl(NcclId()), FromIpv4({10, 1, 2, 3}));
  Id id = NcclId();
  id[8] = 10;
  id[16] = 0xfd;
  id[32] = 3;
  EXPECT_EQ(AddressOfNccl(id), (Address{{0xfd}, 3}));
  id[8] = 1;
  EXPECT_EQ(AddressOfNccl(id), Address{});
}

}  // namespace
}  // namespace crossover::shrink::meeting
