#include "extender/gang/reservation.h"

#include <gtest/gtest.h>

namespace crossover::extender {
namespace {

const PodSeat kSeat{.node = "n1", .containers = {{"init", {"GPU-b"}}, {"main", {"GPU-b", "GPU-a"}}}};

TEST(Reservation, ReadsWhatItWrote) {
  const auto read = ReadReservation(WriteReservation({"e-1", kSeat, 1234.5}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->plan, "e-1");
  EXPECT_EQ(read->seat, kSeat);
  EXPECT_EQ(read->until_s, 1234.5);
  EXPECT_EQ(read->seat.gpus(), (std::vector<std::string>{"GPU-a", "GPU-b"}));
  EXPECT_EQ(ReadReservation(WriteReservation({.plan = "e-1", .seat = kSeat, .size = 8}))->size, 8);
  EXPECT_EQ(ReadReservation(WriteReservation({.plan = "e-1", .seat = kSeat}))->size, 0)
      << "of an older leader";
  for (const std::optional<bool> again : {std::optional<bool>(), std::optional(false), std::optional(true)}) {
    EXPECT_EQ(ReadReservation(WriteReservation({"e-1", kSeat, 5, again}))->again, again);
  }
}

TEST(Reservation, OfAClaimSaysWhoMakesRoom) {
  const Left left{.at_s = 7.5, .gangs = {{"k", {.mark = "m", .since_s = 3}}}};
  const std::string text = WriteReservation({.plan = "e-1", .seat = kSeat, .claims = true, .left = left});
  EXPECT_NE(text.find(R"("claim":"e-1")"), std::string::npos);
  EXPECT_EQ(text.find(R"("plan")"), std::string::npos)
      << "an extender that knows of no claims would carry it out";
  const auto read = ReadReservation(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->plan, "e-1");
  EXPECT_TRUE(read->claims);
  EXPECT_EQ(read->left, left);
  EXPECT_FALSE(ReadReservation(WriteReservation({.plan = "e-1", .seat = kSeat}))->claims);
  for (const char* said : {"7", "{}", R"({"at":"1","gangs":{}})", R"({"at":1,"gangs":[]})"})
    EXPECT_FALSE(ReadReservation(std::string(R"({"plan":"p","node":"n","containers":{"c":["g"]},"left":)") +
                                 said + "}")
                     ->left)
        << said;
}

TEST(Reservation, IsWhatTheRecordSays) {
  EXPECT_EQ(WriteReservation({"e-1", {"n", {{"c", {"g"}}}}, 5}),
            R"({"again":false,"containers":{"c":["g"]},"node":"n","plan":"e-1","until":5.0})");
  EXPECT_EQ(WriteAssignment({{"c", {"g"}}}), R"({"containers":{"c":["g"]}})");
}

TEST(Reservation, HostileTextIsNone) {
  for (const char* text : {"", "{", "[]", "null", "1", R"({"plan":1,"node":"n","containers":{"c":["g"]}})",
                           R"({"plan":"p","node":"","containers":{"c":["g"]}})", R"({"plan":"p","node":"n"})",
                           R"({"plan":"p","node":"n","containers":["g"]})",
                           R"({"plan":"p","node":"n","containers":{"c":[7]}})"}) {
    EXPECT_FALSE(ReadReservation(text)) << text;
    EXPECT_TRUE(ReadAssignment(std::string(text).substr(0, 1)).empty());
  }
  EXPECT_NO_THROW(WriteAssignment({{"\xff", {"\xc0"}}}));
}

TEST(Assignment, ReadsWhatItWrote) {
  EXPECT_EQ(ReadAssignment(WriteAssignment(kSeat.containers)), kSeat.containers);
}

}  // namespace
}  // namespace crossover::extender
