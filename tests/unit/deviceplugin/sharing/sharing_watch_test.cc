// Runs a SharingWatch against scripts in place of MPS's control daemon and of its client program.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "deviceplugin/sharing/watch.h"

namespace crossover::deviceplugin {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kNotKnown[] = "it is not known yet whether MPS takes new clients";

// Answers each command with the file of its name in the script's folder. A file `ends` in the folder holds
// the exit status, and a file run_COMMAND is run first.
constexpr char kClient[] = R"sh(#!/bin/sh
cd "$(dirname "$0")"
read -r verb rest
echo "$verb $rest" >> log
[ -e "run_$verb" ] && . "./run_$verb"
[ -e "$verb" ] && cat "$verb"
exit "$(cat ends 2>/dev/null || echo 0)"
)sh";

class SharingWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    WriteProgram("client", kClient);
    WriteProgram("nvidia-cuda-mps-control", "#!/bin/sh\nread -r line\n");
    ASSERT_EQ(pipe2(life_, O_CLOEXEC), 0);
  }
  void TearDown() override {
    watch_.reset();
    for (const int end : life_) close(end);  // the daemons end with it
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }

  // Replaces a file as a whole, so that no reader sees a part of it.
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/draft") << text;
    std::filesystem::rename(folder_ + "/draft", folder_ + "/" + name);
  }
  void WriteProgram(const std::string& name, const std::string& text) const {
    Write(name, text);
    std::filesystem::permissions(folder_ + "/" + name, std::filesystem::perms::owner_all);
  }
  std::size_t Asked(const std::string& command) const {
    std::ifstream log(folder_ + "/log");
    std::size_t count = 0;
    for (std::string line; std::getline(log, line);) count += line.rfind(command, 0) == 0;
    return count;
  }
  // Starts a process with this program and waits until it is one. The kernel shows the name of a new program
  // before its arguments, and both before its variables, so this waits for all three.
  pid_t Start(std::vector<std::string> command, const char* variable = nullptr) {
    const pid_t child = fork();
    if (child == 0) {
      dup2(life_[0], STDIN_FILENO);
      if (variable != nullptr) putenv(const_cast<char*>(variable));
      std::vector<char*> arguments;
      for (std::string& word : command) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      execv(arguments.front(), arguments.data());
      _exit(1);
    }
    children_.push_back(child);
    const std::string name = std::filesystem::path(command.front()).filename().string().substr(0, 15);
    EXPECT_TRUE(Await([&] {
      return ReadOfProcess(child, "comm") == name + "\n" &&
             ReadOfProcess(child, "cmdline").ends_with(command.back() + '\0') &&
             ReadOfProcess(child, "environ").find('=') != std::string::npos;
    }));
    return child;
  }
  static std::string ReadOfProcess(pid_t process, const char* file) {
    std::ifstream opened("/proc/" + std::to_string(process) + "/" + file);
    return {std::istreambuf_iterator<char>(opened), {}};
  }
  // Runs a control daemon.
  void Run(const std::vector<std::string>& options = {}, const char* variable = nullptr) {
    std::vector<std::string> command{folder_ + "/nvidia-cuda-mps-control"};
    command.insert(command.end(), options.begin(), options.end());
    Write("nvidia-cuda-mps-control.pid", std::to_string(Start(command, variable)));
  }
  void HaveServer(const std::string& status) const {
    Write("get_server_list", std::to_string(getpid()) + "\n");
    Write("get_server_status", status + "\n");
  }
  void Watch(Sharing wanted, const std::string& program = "client") {
    watch_ = std::make_unique<SharingWatch>(
        MpsControl::Settings{
            .pipe_directory = folder_, .program = folder_ + "/" + program, .owner = getuid()},
        wanted, [] { return std::vector<Pod>(); }, "/", std::chrono::milliseconds(5));
  }
  template <typename Condition>
  static bool Await(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }
  bool AwaitWithheld(const std::string& words) const {
    return Await([&] { return base::TextOf(watch_->state().strategy.withheld) == words; });
  }
  bool AwaitFault(const std::string& words) const {
    return Await([&] { return watch_->state().fault.find(words) != std::string::npos; });
  }

  const std::string folder_ = testing::TempDir() + "/sharing_watch_test-" + std::to_string(getpid());
  int life_[2] = {-1, -1};
  std::vector<pid_t> children_;
  std::unique_ptr<SharingWatch> watch_;
};

TEST_F(SharingWatchTest, SlotsWaitForTheFirstLook) {
  Run();
  HaveServer("FAULT");
  Watch(Sharing::kAuto);
  EXPECT_NE(base::TextOf(watch_->state().strategy.withheld), "")
      << "a daemon that starts beside a fault gives nothing out";
  EXPECT_TRUE(AwaitFault("is in FAULT"));
  HaveServer("ACTIVE");
  EXPECT_TRUE(AwaitWithheld(""));
  EXPECT_EQ(watch_->state().fault, "");
  EXPECT_EQ(watch_->state().servers, std::set<pid_t>{getpid()});
}

TEST_F(SharingWatchTest, WithoutMpsNothingIsWaitedFor) {
  Watch(Sharing::kAuto);
  EXPECT_EQ(watch_->state().strategy.sharing, Sharing::kExclusive);
  EXPECT_EQ(base::TextOf(watch_->state().strategy.withheld), "");
}

TEST_F(SharingWatchTest, AnotherProtocolIsJudgedAtOnce) {
  Run({"-p", "3"});
  Watch(Sharing::kAuto);
  EXPECT_THAT(watch_->state().fault, HasSubstr("speaks protocol 3"));
  EXPECT_EQ(watch_->state().strategy.withheld->reason, base::Withheld::kMpsTakesNone);
  EXPECT_TRUE(Await([&] { return watch_->state().asked; }));
  EXPECT_THAT(watch_->state().fault, HasSubstr("speaks protocol 3"));
  EXPECT_EQ(Asked(""), 0u);
}

TEST_F(SharingWatchTest, AnotherProtocolIsNoFaultWhereJobsShareOtherwise) {
  Run({"-p", "3"});
  for (const Sharing sharing : {Sharing::kTimeslice, Sharing::kExclusive}) {
    Watch(sharing);
    EXPECT_TRUE(Await([&] { return watch_->state().asked; })) << "the guard of the one owner waits for it";
    EXPECT_EQ(watch_->state().fault, "");
    EXPECT_EQ(base::TextOf(watch_->state().strategy.withheld), "");
    watch_.reset();
  }
}

TEST_F(SharingWatchTest, AProtocolOfTheVariableAloneIsBelievedWhereTheListIsNone) {
  Run({}, "CUDA_MPS_PROTOCOL_VERSION=3");
  HaveServer("ACTIVE");
  Watch(Sharing::kAuto);
  EXPECT_TRUE(AwaitWithheld("")) << "an older driver does not heed it";
  Write("get_server_list", "Unrecognized command\n");
  EXPECT_TRUE(AwaitFault("speaks protocol 3"));
}

TEST_F(SharingWatchTest, AClientProgramThatCannotBeRunIsNoFault) {
  Run();
  Watch(Sharing::kAuto, "missing");
  EXPECT_TRUE(AwaitWithheld(""));
  EXPECT_THAT(watch_->state().unasked, HasSubstr("cannot be run"));
  EXPECT_EQ(watch_->state().fault, "");
  watch_.reset();
  Write("ends", "3");
  Watch(Sharing::kAuto);
  EXPECT_TRUE(AwaitWithheld(""));
  EXPECT_THAT(watch_->state().unasked, HasSubstr("ends with status 3"));
  std::filesystem::remove(folder_ + "/ends");
  HaveServer("ACTIVE");
  EXPECT_TRUE(Await([&] { return watch_->state().unasked.empty(); })) << "it can be asked again";
}

TEST_F(SharingWatchTest, AListThatIsNoneIsNotJudged) {
  Run();
  Write("get_server_list", "Unknown command\n");
  Watch(Sharing::kAuto);
  watch_->NoteOffers(true);
  EXPECT_TRUE(AwaitWithheld(""));
  EXPECT_TRUE(Await([&] { return Asked("get_server_list") > 5; }));
  EXPECT_EQ(Asked("start_server"), 0u);
  EXPECT_EQ(watch_->state().fault, "");
}

TEST_F(SharingWatchTest, AServerIsAskedForOnlyWhereSlotsCouldBeGivenOut) {
  Run();
  const std::string pid = std::to_string(getpid());
  Write("get_server_status", "ACTIVE\n");
  Write("run_start_server", "echo " + pid + " > get_server_list\n");
  Watch(Sharing::kAuto);
  EXPECT_TRUE(Await([&] { return Asked("get_server_list") > 3; }));
  EXPECT_EQ(Asked("start_server"), 0u) << "in maintenance, say";
  EXPECT_EQ(base::TextOf(watch_->state().strategy.withheld), kNotKnown);
  watch_->NoteOffers(true);
  EXPECT_TRUE(AwaitWithheld(""));
  EXPECT_EQ(Asked("start_server -uid"), 1u);
  EXPECT_EQ(watch_->state().servers, std::set<pid_t>{getpid()});
}

TEST_F(SharingWatchTest, ADriverThatKnowsNoOrderToStartIsNotWaitedFor) {
  Run();
  Write("start_server", "Unrecognized command\n");
  Watch(Sharing::kAuto);
  watch_->NoteOffers(true);
  EXPECT_TRUE(AwaitWithheld(""));
  EXPECT_EQ(watch_->state().fault, "");
}

TEST_F(SharingWatchTest, WhatIsSaidOfAServerThatHasEndedSaysNothing) {
  Run();
  const std::string server = std::to_string(Start({"/bin/sleep", "1000"}));
  Write("get_server_list", server + "\n");
  Write("get_server_status", "Failed to find server\n");
  // The answer comes once the server has ended: a signal takes a moment.
  Write("run_get_server_status",
        "kill -9 " + server + "\n" + "until grep -q '^State:.Z' /proc/" + server + "/status; do :; done\n");
  Watch(Sharing::kAuto);
  EXPECT_TRUE(Await([&] { return Asked("get_server_list") > 5; }));
  EXPECT_EQ(Asked("get_server_status"), 1u);
  EXPECT_EQ(base::TextOf(watch_->state().strategy.withheld), kNotKnown) << "no server is well";
}

TEST_F(SharingWatchTest, AServerThatIsKilledIsALoss) {
  Run();
  const pid_t server = Start({"/bin/sleep", "1000"});
  Write("get_server_list", std::to_string(server) + "\n");
  Write("get_server_status", "ACTIVE\n");
  Watch(Sharing::kAuto);
  EXPECT_TRUE(AwaitWithheld(""));
  EXPECT_EQ(watch_->state().losses, 0u);
  kill(server, SIGKILL);
  EXPECT_TRUE(Await([&] { return watch_->state().losses == 1; })) << "although none has come in its place";
  EXPECT_EQ(watch_->state().lost_server, server);
  HaveServer("ACTIVE");
  EXPECT_TRUE(Await([&] { return watch_->state().servers == std::set<pid_t>{getpid()}; }));
  EXPECT_EQ(watch_->state().losses, 1u) << "it is told once";
}

TEST_F(SharingWatchTest, AListThatIsNotGivenIsNoLoss) {
  Run();
  HaveServer("ACTIVE");
  Watch(Sharing::kAuto);
  EXPECT_TRUE(AwaitWithheld(""));
  for (const char* broken : {"get_server_list", "ends"}) {
    Write(broken, "3 is no list\n");
    const std::size_t asked = Asked("get_server_list");
    EXPECT_TRUE(Await([&] { return Asked("get_server_list") > asked + 4; }));
  }
  EXPECT_EQ(watch_->state().losses, 0u);
}

TEST_F(SharingWatchTest, AnotherControlDaemonBeginsAnew) {
  Run();
  HaveServer("FAULT");
  Watch(Sharing::kAuto);
  EXPECT_TRUE(AwaitFault("is in FAULT"));
  Write("run_get_server_list", "exec sleep 1000\n");  // no later look says anything for two seconds
  Run();
  EXPECT_TRUE(AwaitWithheld(kNotKnown));
  EXPECT_EQ(watch_->state().fault, "") << "the fault was of the daemon before";
}

}  // namespace
}  // namespace crossover::deviceplugin
