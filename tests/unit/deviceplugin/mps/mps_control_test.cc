#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "deviceplugin/mps/control.h"

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MpsControlTest, Pids) {
  EXPECT_THAT(ParsePids("12\n345\n"), ElementsAre(12, 345));
  EXPECT_THAT(ParsePids("12"), ElementsAre(12));
  EXPECT_THAT(ParsePids("Server not found\n-3\n0\n7x\n\n9\n"), ElementsAre(9));
  EXPECT_THAT(ParsePids(""), IsEmpty());
}

// Returns the entries as /proc has them: a zero byte ends each.
std::string Entries(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) text += entry + '\0';
  return text;
}

TEST(MpsOptionsTest, KnowsAllSpellingsOfServingAllUsers) {
  for (const char* spelling : {"-multiuser-server", "--multiuser-server", "-M", "-m", "--multiuser"}) {
    EXPECT_TRUE(ReadMpsOptions(Entries({"nvidia-cuda-mps-control", "-f", spelling}), "").multi_user)
        << spelling;
    EXPECT_TRUE(ReadMpsOptions(Entries({"nvidia-cuda-mps-control", spelling, "-d"}), "").multi_user)
        << spelling;
  }
  EXPECT_FALSE(ReadMpsOptions(Entries({"-M", "-f"}), "").multi_user) << "the name of the program";
  EXPECT_FALSE(ReadMpsOptions(Entries({"x", "-Max", "multiuser", "-f"}), "").multi_user);
  EXPECT_FALSE(ReadMpsOptions("", "").multi_user);
  EXPECT_TRUE(ReadMpsOptions(std::string("x\0-M", 4), "").multi_user) << "the last entry has no end";
}

TEST(MpsOptionsTest, KnowsTheProtocol) {
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "-d"}), Entries({"PATH=/bin"})).protocol, 2);
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "-d", "-p", "3"}), "").protocol, 3);
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "--protocol", "3", "-d"}), "").protocol, 3);
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "-p3"}), "").protocol, 3);
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "--protocol=3"}), "").protocol, 3);
  EXPECT_TRUE(ReadMpsOptions(Entries({"x", "-p3"}), "").sure);
  const MpsOptions by_variable =
      ReadMpsOptions(Entries({"x"}), Entries({"A=b", "CUDA_MPS_PROTOCOL_VERSION=3"}));
  EXPECT_EQ(by_variable.protocol, 3);
  EXPECT_FALSE(by_variable.sure) << "a driver that knows no protocols does not heed it";
  EXPECT_TRUE(ReadMpsOptions(Entries({"x", "-p", "2"}), Entries({"CUDA_MPS_PROTOCOL_VERSION=3"})).sure);
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "-p", "3"}), Entries({"CUDA_MPS_PROTOCOL_VERSION=2"})).protocol, 2)
      << "the variable takes precedence";
  for (const char* odd : {"-p", "-px", "--protocol=", "--protocol"})
    EXPECT_EQ(ReadMpsOptions(Entries({"x", odd}), "").protocol, 2) << odd;
  EXPECT_EQ(ReadMpsOptions(Entries({"x", "-p", "3x"}), "").protocol, 2);
}

// Runs a script in place of NVIDIA's program. It answers to one command at a time.
class MpsProgramTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Makes the program answer `answer` to a line that begins with `command`, and nothing to others. It logs
  // the lines that it gets.
  void Answer(const std::string& command, const std::string& answer) const {
    std::ofstream(program_) << "#!/bin/sh\nread line\necho \"$line\" >> " << log_ << "\ncase \"$line\" in \""
                            << command << "\"*) echo '" << answer << "';; esac\n";
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
  }
  std::string Log() const {
    std::ifstream file(log_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string folder_ = testing::TempDir() + "/mps_control_test-" + std::to_string(getpid());
  const std::string program_ = folder_ + "/control";
  const std::string log_ = folder_ + "/log";
  const MpsControl control_ = MpsControl({.pipe_directory = folder_, .program = program_});
};

TEST_F(MpsProgramTest, ServersAndTheirState) {
  Answer("get_server_list", std::to_string(getpid()) + "\n999999999");
  const auto list = control_.Servers();
  ASSERT_TRUE(list.answer.given());
  ASSERT_EQ(list.servers.size(), 1u) << "the other one is no process";
  const auto& server = list.servers.front();
  EXPECT_EQ(server.pid, getpid());
  EXPECT_EQ(server.uid, getuid());
  EXPECT_TRUE(server.state == 'R' || server.state == 'S') << server.state;
  EXPECT_TRUE(MpsControl::Lives(server.pid));
  EXPECT_FALSE(MpsControl::Lives(999999999));
  EXPECT_EQ(list.odd, "");
}

TEST_F(MpsProgramTest, AnAnswerThatIsNoListIsNamed) {
  Answer("get_server_list", "\nUnknown command: get_server_list");
  const auto list = control_.Servers();
  EXPECT_TRUE(list.answer.given());
  EXPECT_THAT(list.servers, IsEmpty());
  EXPECT_EQ(list.odd, "Unknown command: get_server_list");
}

TEST_F(MpsProgramTest, StatusAndStart) {
  Answer("get_server_status 12", "FAULT");
  EXPECT_EQ(control_.Status(12).text, "FAULT\n");
  EXPECT_TRUE(control_.StartServer(1000).given());
  EXPECT_EQ(Log(), "get_server_status 12\nstart_server -uid 1000\n");
}

TEST_F(MpsProgramTest, WhatWentWrongIsToldApart) {
  Answer("start_server", "Unrecognized command");
  EXPECT_TRUE(control_.StartServer(0).given());
  EXPECT_TRUE(control_.StartServer(0).unrecognized());
  Answer("start_server", "Unknown command \"start_server\"");
  EXPECT_TRUE(control_.StartServer(0).unrecognized()) << "as NVIDIA's own say it";
  EXPECT_EQ(control_.StartServer(0).Fault(), "");
  std::ofstream(program_) << "#!/bin/sh\necho sorry; exit 3\n";
  EXPECT_EQ(control_.Servers().answer.kind, MpsAnswer::Kind::kFailed);
  EXPECT_EQ(control_.Servers().answer.Fault(), "the client program of MPS ends with status 3");
  EXPECT_THAT(control_.Servers().servers, IsEmpty());
  std::ofstream(program_) << "#!/bin/sh\nexec sleep 1000\n";
  EXPECT_EQ(control_.Servers().answer.kind, MpsAnswer::Kind::kLate) << "it does not answer";
  std::filesystem::remove(program_);
  EXPECT_EQ(control_.Servers().answer.kind, MpsAnswer::Kind::kNotStarted);
}

TEST(MpsControlTest, WhereThereIsNoneNothingIsAlive) {
  const MpsControl control({.pipe_directory = "/nonexistent", .program = "/nonexistent"});
  EXPECT_FALSE(control.Look().alive);
  EXPECT_EQ(control.Servers().answer.kind, MpsAnswer::Kind::kNotStarted);
  EXPECT_FALSE(control.Status(1).given());
  EXPECT_FALSE(control.StartServer(0).given());
  EXPECT_FALSE(control.Clients(1));
  EXPECT_FALSE(control.Terminate(1, 2));
}

}  // namespace
}  // namespace crossover::deviceplugin
