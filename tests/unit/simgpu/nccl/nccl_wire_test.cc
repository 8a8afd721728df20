#include <gtest/gtest.h>

#include <cstring>

#include "simgpu/nccl/wire.h"

namespace simgpu::nccl {
namespace {

using Bytes = std::vector<std::byte>;

std::span<const std::byte> Payload(const Bytes& frame) {
  return std::span(frame).subspan(sizeof(FrameHeader));
}

Member AMember(const char* node) {
  Member member;
  member.listener.family = 4;
  member.listener.port = 4711;
  std::strncpy(member.node, node, sizeof member.node - 1);
  return member;
}

// Feeds a stream in portions and returns the kinds of the frames that come out.
std::vector<Kind> Feed(FrameReader& reader, const Bytes& stream, std::size_t portion) {
  std::vector<Kind> kinds;
  for (std::size_t at = 0; at < stream.size();) {
    const auto space = reader.Space();
    const std::size_t bytes = std::min({portion, stream.size() - at, space.size()});
    std::memcpy(space.data(), stream.data() + at, bytes);
    reader.Received(bytes);
    at += bytes;
    while (const auto frame = reader.Next()) kinds.push_back(frame->header.kind);
  }
  return kinds;
}

TEST(WireTest, CallSurvivesTheWay) {
  const Call call{Function::kReduce, ncclBfloat16, ncclMin, 3, 1u << 20};
  const Bytes frame = EncodeCall(7, call);
  EXPECT_EQ(DecodeHeader(frame)->sequence, 7u);
  EXPECT_EQ(DecodeCall(Payload(frame)), call);
}

TEST(WireTest, CallsOutOfRangeAreRefused) {
  Bytes frame = EncodeCall(0, {});
  const std::uint32_t no_function = kFunctions;
  std::memcpy(frame.data() + sizeof(FrameHeader), &no_function, 4);
  EXPECT_FALSE(DecodeCall(Payload(frame)));
  EXPECT_FALSE(DecodeCall(Payload(frame).first(8)));
}

TEST(WireTest, PieceSurvivesTheWay) {
  const Bytes data{std::byte{1}, std::byte{2}, std::byte{3}};
  const Bytes frame = EncodePiece(1, {5, 3, 100}, data.data());
  std::span<const std::byte> out;
  const auto piece = DecodePiece(Payload(frame), &out);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->step, 5u);
  EXPECT_EQ(piece->offset, 100u);
  EXPECT_EQ(Bytes(out.begin(), out.end()), data);
}

TEST(WireTest, AHollowPieceHasNoBytes) {
  const Bytes frame = EncodeHollow(1, {5, 3, 100});
  EXPECT_EQ(frame.size(), sizeof(FrameHeader) + sizeof(PieceFrame));
  const auto piece = DecodeAnnounce(Payload(frame));
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->bytes, 3u);
  EXPECT_EQ(piece->offset, 100u);
  std::span<const std::byte> out;
  EXPECT_FALSE(DecodePiece(Payload(frame), &out)) << "it is no piece with bytes";
}

TEST(WireTest, PieceThatLiesAboutItsLengthIsRefused) {
  const Bytes data(8);
  const Bytes frame = EncodePiece(1, {0, 8, 0}, data.data());
  std::span<const std::byte> out;
  EXPECT_FALSE(DecodePiece(Payload(frame).first(sizeof(PieceFrame) + 7), &out));
}

TEST(WireTest, ErrorTextIsCleaned) {
  const Bytes frame = EncodeError({ncclRemoteError, "bad\nnews\x1b[31m"});
  EXPECT_EQ(DecodeError(Payload(frame))->text, "bad?news?[31m");
}

TEST(WireTest, ErrorThatIsNoneIsRefused) {
  const Bytes frame = EncodeError({ncclSuccess, ""});
  EXPECT_FALSE(DecodeError(Payload(frame)));
}

TEST(WireTest, JoinOfARankThatDoesNotExistIsRefused) {
  Join join;
  join.ranks = 2;
  join.rank = 1;
  join.self = AMember("node0");
  EXPECT_TRUE(DecodeJoin(Payload(EncodeJoin(join))));
  join.rank = 2;
  EXPECT_FALSE(DecodeJoin(Payload(EncodeJoin(join))));
}

TEST(WireTest, TableWithAnUnclosedNameIsRefused) {
  std::vector<Member> members{AMember("a"), AMember("b")};
  EXPECT_EQ(DecodeTable(Payload(EncodeTable(members)))->size(), 2u);
  std::memset(members[1].node, 'x', sizeof members[1].node);
  EXPECT_FALSE(DecodeTable(Payload(EncodeTable(members))));
}

TEST(WireTest, UniqueIdSurvivesTheWay) {
  Rendezvous where;
  where.nonce = 0x1234567890abcdef;
  where.root.family = 6;
  where.root.port = 65535;
  ncclUniqueId id;
  EncodeUniqueId(where, &id);
  EXPECT_EQ(DecodeUniqueId(id)->nonce, where.nonce);
  EXPECT_EQ(DecodeUniqueId(id)->root.port, 65535u);
  id.internal[0] ^= 1;
  EXPECT_FALSE(DecodeUniqueId(id));
}

TEST(FrameReaderTest, FindsFramesHoweverTheStreamIsCut) {
  Bytes stream;
  const Bytes large(70'000);
  for (const Bytes& frame :
       {EncodeCall(0, {}), EncodePiece(0, {0, 70'000, 0}, large.data()), EncodeBye(), EncodeControl({})}) {
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  const std::vector<Kind> expected{Kind::kCall, Kind::kPiece, Kind::kBye, Kind::kControl};
  for (const std::size_t portion : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, stream.size()}) {
    FrameReader reader;
    EXPECT_EQ(Feed(reader, stream, portion), expected) << portion;
    EXPECT_TRUE(reader.between_frames());
  }
}

TEST(FrameReaderTest, StopsAtGarbage) {
  Bytes stream = EncodeBye();
  stream.resize(stream.size() + 16, std::byte{0xee});
  FrameReader reader;
  EXPECT_EQ(Feed(reader, stream, 5), std::vector<Kind>{Kind::kBye});
  EXPECT_TRUE(reader.broken());
}

TEST(FrameReaderTest, RefusesAFrameThatIsTooLarge) {
  const FrameHeader header{kWireMagic, Kind::kPiece, kMaxPayload + 1, 0};
  Bytes stream(sizeof header);
  std::memcpy(stream.data(), &header, sizeof header);
  FrameReader reader;
  EXPECT_TRUE(Feed(reader, stream, 16).empty());
  EXPECT_TRUE(reader.broken());
}

}  // namespace
}  // namespace simgpu::nccl
