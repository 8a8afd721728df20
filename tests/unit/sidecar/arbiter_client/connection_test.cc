#include "sidecar/arbiter_client/connection.h"

#include <gmock/gmock.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "sidecar/arbiter_client/page.h"
#include "tests/unit/sidecar/arbiter_client/fake_arbiter.h"

namespace crossover::arbiter_client {
namespace {

using test::SendMessage;
using test::Turnstile;
using test::Welcome;
using ::testing::HasSubstr;

crossover_header UnknownMessage() {
  crossover_header header = MakeHeader(CROSSOVER_PROFILE, sizeof(crossover_header));
  header.type = 99;
  return header;
}

constexpr std::int64_t kLong = 10 * base::kNsPerSecond;

crossover_limit LimitOf(std::uint32_t mib, bool known) {
  return {MakeHeader(CROSSOVER_LIMIT, sizeof(crossover_limit)), mib, known ? 1u : 0u};
}

class ConnectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    arbiter_.Reset(ends[0]);
    connection_ = Connection(base::UniqueFd(ends[1]));
  }

  // Joins with a Hello. REQUIRES: the answer has been sent, and the socket keeps it.
  bool Join() {
    const crossover_hello hello{MakeHeader(CROSSOVER_HELLO, sizeof(crossover_hello)),
                                "a",
                                "GPU-1",
                                2,
                                1,
                                3,
                                1,
                                CROSSOVER_PRIORITY_NORMAL,
                                0,
                                {}};
    return connection_.Join(hello, &membership_, reason_, sizeof reason_);
  }

  base::UniqueFd arbiter_;
  Connection connection_;
  Received received_;
  Membership membership_;
  char reason_[CROSSOVER_REASON_MAX] = {};
};

TEST_F(ConnectionTest, JoinsAndMapsThePageThatCame) {
  Turnstile turnstile;
  const crossover_welcome welcome = Welcome(3);
  SendMessage(arbiter_.get(), &welcome, sizeof welcome, turnstile.fd());
  ASSERT_TRUE(Join()) << reason_;
  EXPECT_EQ(membership_.slot, 3u);
  membership_.page->slot[3].phase = 2;
  EXPECT_EQ(turnstile.page().slot[3].phase, 2u) << "the same memory";
}

TEST_F(ConnectionTest, TakesTheMemoryThatItMayHaveFromTheWelcome) {
  Turnstile turnstile;
  crossover_welcome welcome = Welcome(3);
  welcome.memory_mib = 512;
  SendMessage(arbiter_.get(), &welcome, sizeof welcome, turnstile.fd());
  ASSERT_TRUE(Join()) << reason_;
  EXPECT_EQ(membership_.memory_mib, 512u);
}

TEST_F(ConnectionTest, SkipsMessagesOfUnknownType) {
  Turnstile turnstile;
  const crossover_header unknown = UnknownMessage();
  SendMessage(arbiter_.get(), &unknown, sizeof unknown);
  const crossover_welcome welcome = Welcome(0);
  SendMessage(arbiter_.get(), &welcome, sizeof welcome, turnstile.fd());
  EXPECT_TRUE(Join()) << reason_;
}

TEST_F(ConnectionTest, RefusalGivesItsReason) {
  const crossover_refused refused{MakeHeader(CROSSOVER_REFUSED, sizeof(crossover_refused)),
                                  "no slot is free"};
  SendMessage(arbiter_.get(), &refused, sizeof refused);
  EXPECT_FALSE(Join());
  EXPECT_STREQ(reason_, "no slot is free");
}

TEST_F(ConnectionTest, EndOfFileIsARefusal) {
  arbiter_.Reset();
  EXPECT_FALSE(Join());
}

// The program takes the number of our socket for a socket of its own, in whose stream a notice lies.
TEST_F(ConnectionTest, ANumberThatTheProgramHasTakenIsLeftAlone) {
  const int number = connection_.fd().get();
  int users[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, users), 0);
  const base::UniqueFd far(users[0]), near(users[1]);
  ASSERT_EQ(::dup2(near.get(), number), number);
  ASSERT_EQ(::send(far.get(), "data", 4, 0), 4);
  EXPECT_TRUE(connection_.AwaitEnd(1000, &received_)) << "our connection is gone";
  crossover_profile profile{};
  profile.header = MakeHeader(CROSSOVER_PROFILE, sizeof profile);
  connection_.Send(&profile.header);
  connection_.Close();
  char data[8] = {};
  EXPECT_EQ(::recv(number, data, sizeof data, MSG_DONTWAIT), 4) << "it is open, and nothing was lost";
  EXPECT_EQ(::recv(far.get(), data, sizeof data, MSG_DONTWAIT), -1) << "nothing of ours was sent there";
  ::close(number);
}

// Programs close low numbers one after the other, and take them anew.
TEST(HighNumberTest, OurSocketIsNotAmongTheLowNumbers) {
  const test::Listener listener;
  Connection connection;
  ASSERT_TRUE(connection.Connect(listener.path()));
  EXPECT_GE(connection.fd().get(), 900);
  EXPECT_EQ(::fcntl(connection.fd().get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(HighNumberTest, WhereThereAreFewNumbersALowOneDoes) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{256, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const test::Listener listener;
  Connection connection;
  EXPECT_TRUE(connection.Connect(listener.path()));
  ::setrlimit(RLIMIT_NOFILE, &before);
}

// A message that another thread has read, between the wait for it and our look, is not waited for again.
TEST_F(ConnectionTest, AMessageThatIsGoneIsNotWaitedFor) {
  constexpr int kRounds = 20;
  std::vector<std::thread> others;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back([socket = connection_.fd().get()] {
      char stolen[sizeof(crossover_header)];
      while (::recv(socket, stolen, sizeof stolen, 0) > 0) {
      }
    });
  }
  std::atomic<int> round{0};
  std::thread arbiter([&] {
    for (int i = 0; i < kRounds; ++i) {
      while (round < i + 1) std::this_thread::yield();
      ::usleep(2000);  // by now it most likely waits
      const crossover_header unknown = UnknownMessage();
      SendMessage(arbiter_.get(), &unknown, sizeof unknown);
    }
  });
  for (; round < kRounds;) {
    ++round;
    EXPECT_FALSE(connection_.AwaitEnd(50'000, &received_));
  }
  arbiter.join();
  EXPECT_EQ(::shutdown(arbiter_.get(), SHUT_RDWR), 0);
  for (std::thread& other : others) other.join();
}

TEST_F(ConnectionTest, ANumberThatTheProgramHasClosedEndsTheConnection) {
  ::close(connection_.fd().get());
  EXPECT_TRUE(connection_.AwaitEnd(1000, &received_));
  EXPECT_FALSE(Join());
}

TEST(AskForLimitTest, ReturnsWhatTheArbiterAnswers) {
  const test::Listener listener;
  std::thread arbiter([&] {
    crossover_header ask{};
    const base::UniqueFd client(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_EQ(::recv(client.get(), &ask, sizeof ask, 0), static_cast<ssize_t>(sizeof ask));
    EXPECT_EQ(ask.type, static_cast<std::uint32_t>(CROSSOVER_ASK));
    const crossover_header unknown = UnknownMessage();
    SendMessage(client.get(), &unknown, sizeof unknown);
    const crossover_limit limit = LimitOf(3, true);
    SendMessage(client.get(), &limit, sizeof limit);
  });
  const Limit limit = AskForLimit(listener.path(), kLong);
  EXPECT_TRUE(limit.known);
  EXPECT_EQ(limit.bytes, std::uint64_t{3} << 20);
  arbiter.join();
}

// Answers one question with `message` and returns what came of it.
template <typename Message>
Limit Answered(const Message& message) {
  const test::Listener listener;
  std::thread arbiter([&] {
    crossover_header ask{};
    const base::UniqueFd client(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_EQ(::recv(client.get(), &ask, sizeof ask, 0), static_cast<ssize_t>(sizeof ask));
    SendMessage(client.get(), &message, sizeof message);
  });
  const Limit limit = AskForLimit(listener.path(), kLong);
  arbiter.join();
  return limit;
}

TEST(AskForLimitTest, NoLimitIsAnAnswerAndNotYetIsNone) {
  EXPECT_TRUE(Answered(LimitOf(0, true)).known);
  EXPECT_FALSE(Answered(LimitOf(0, false)).known);
}

TEST(AskForLimitTest, ARefusalIsNoAnswer) {
  EXPECT_FALSE(Answered(crossover_refused{MakeHeader(CROSSOVER_REFUSED, sizeof(crossover_refused)),
                                          "too many connections"})
                   .known);
}

TEST(AskForLimitTest, AnArbiterThatDoesNotAnswerKnowsNone) {
  const test::Listener listener;
  EXPECT_FALSE(AskForLimit(listener.path(), 10 * base::kNsPerMs).known);
  EXPECT_FALSE(AskForLimit("/nowhere", kLong).known);
}

// Programs have timers of their own, whose signals interrupt any wait.
TEST(AskForLimitTest, ASignalDoesNotLoseTheAnswer) {
  struct sigaction interrupt {};
  struct sigaction before {};
  interrupt.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &interrupt, &before), 0);
  const test::Listener listener;
  const pthread_t asking = ::pthread_self();
  std::thread arbiter([&] {
    crossover_header ask{};
    const base::UniqueFd client(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_EQ(::recv(client.get(), &ask, sizeof ask, 0), static_cast<ssize_t>(sizeof ask));
    for (int i = 0; i < 50; ++i) {  // one of them comes while it waits
      EXPECT_EQ(::pthread_kill(asking, SIGUSR1), 0);
      ::usleep(1000);
    }
    const crossover_limit limit = LimitOf(3, true);
    SendMessage(client.get(), &limit, sizeof limit);
  });
  EXPECT_TRUE(AskForLimit(listener.path(), kLong).known);
  arbiter.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(ConnectionTest, OtherProtocolVersionIsARefusal) {
  Turnstile turnstile;
  crossover_welcome welcome = Welcome(0);
  welcome.header.version = 2;
  SendMessage(arbiter_.get(), &welcome, sizeof welcome, turnstile.fd());
  EXPECT_FALSE(Join());
  EXPECT_THAT(reason_, HasSubstr("version"));
}

TEST_F(ConnectionTest, SlotOutOfRangeIsRefused) {
  Turnstile turnstile;
  const crossover_welcome welcome = Welcome(CROSSOVER_MAX_CLIENTS);
  SendMessage(arbiter_.get(), &welcome, sizeof welcome, turnstile.fd());
  EXPECT_FALSE(Join());
  EXPECT_THAT(reason_, HasSubstr("malformed"));
}

TEST_F(ConnectionTest, WelcomeWithoutATurnstileIsRefused) {
  const crossover_welcome welcome = Welcome(0);
  SendMessage(arbiter_.get(), &welcome, sizeof welcome);
  EXPECT_FALSE(Join());
}

TEST_F(ConnectionTest, SkipsUnknownMessagesOfAnyLength) {
  Turnstile turnstile;
  std::vector<char> unknown(5000, 'x');
  crossover_header header = UnknownMessage();
  header.bytes = static_cast<std::uint32_t>(unknown.size());
  memcpy(unknown.data(), &header, sizeof header);
  SendMessage(arbiter_.get(), unknown.data(), unknown.size());
  const crossover_welcome welcome = Welcome(0);
  SendMessage(arbiter_.get(), &welcome, sizeof welcome, turnstile.fd());
  EXPECT_TRUE(Join()) << reason_;
}

TEST_F(ConnectionTest, AMessageOfAnotherSizeThanItsTypeHasEndsTheConnection) {
  const crossover_header short_notice = MakeHeader(CROSSOVER_NOTICE, sizeof(crossover_header));
  SendMessage(arbiter_.get(), &short_notice, sizeof short_notice);
  EXPECT_TRUE(connection_.AwaitEnd(1000, &received_));
}

int OpenDescriptors() {
  constexpr int kMost = 256;
  int open = 0;
  for (int fd = 0; fd < kMost; ++fd) open += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return open;
}

TEST_F(ConnectionTest, DescriptorsThatItDoesNotTakeAreClosed) {
  const int before = OpenDescriptors();
  for (int message = 0; message < 3; ++message) {
    const crossover_header unknown = UnknownMessage();
    SendMessage(arbiter_.get(), &unknown, sizeof unknown, {STDIN_FILENO, STDIN_FILENO});
    EXPECT_FALSE(connection_.AwaitEnd(1000, &received_));
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(ConnectionTest, AWelcomeWithTwoDescriptorsIsRefused) {
  Turnstile turnstile;
  const crossover_welcome welcome = Welcome(0);
  SendMessage(arbiter_.get(), &welcome, sizeof welcome, {turnstile.fd(), turnstile.fd()});
  EXPECT_FALSE(Join());
  EXPECT_THAT(reason_, HasSubstr("malformed"));
}

TEST_F(ConnectionTest, WhatTheArbiterSaysIsOneLineOfTheLog) {
  const crossover_notice notice{MakeHeader(CROSSOVER_NOTICE, sizeof(crossover_notice)),
                                "no\ncrossover: all is well\033[2J"};
  SendMessage(arbiter_.get(), &notice, sizeof notice);
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(connection_.AwaitEnd(1000, &received_));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "crossover: no?crossover: all is well?[2J\n");
}

TEST_F(ConnectionTest, NoticesTheEnd) {
  EXPECT_FALSE(connection_.AwaitEnd(0, &received_));
  const crossover_header unknown = UnknownMessage();
  SendMessage(arbiter_.get(), &unknown, sizeof unknown);
  EXPECT_FALSE(connection_.AwaitEnd(0, &received_)) << "a message is not the end";
  arbiter_.Reset();
  EXPECT_TRUE(connection_.AwaitEnd(1000, &received_));
}

TEST_F(ConnectionTest, NoticesGoIntoTheLog) {
  crossover_notice notice{MakeHeader(CROSSOVER_NOTICE, sizeof(crossover_notice)), "max-slowdown refused"};
  memset(notice.text + 32, 'x', sizeof notice.text - 32);
  SendMessage(arbiter_.get(), &notice, sizeof notice);
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(connection_.AwaitEnd(1000, &received_));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("max-slowdown refused\n"));
}

TEST(PageTest, TakesOnlySealedPagesOfTheRightSizeAndVersion) {
  const char* why = nullptr;
  EXPECT_NE(MapPage(Turnstile().fd(), &why), nullptr);
  EXPECT_EQ(MapPage(Turnstile(0).fd(), &why), nullptr);
  EXPECT_THAT(why, HasSubstr("sealed"));
  EXPECT_EQ(MapPage(Turnstile(F_SEAL_GROW).fd(), &why), nullptr) << "could shrink under our feet";
  EXPECT_EQ(MapPage(Turnstile(F_SEAL_SHRINK | F_SEAL_GROW, 2 * CROSSOVER_PAGE_BYTES).fd(), &why), nullptr);
  EXPECT_THAT(why, HasSubstr("size"));
  EXPECT_EQ(MapPage(STDIN_FILENO, &why), nullptr);
  const auto spoil = [&](auto change) {
    Turnstile turnstile;
    change(turnstile.page());
    const bool refused = MapPage(turnstile.fd(), &why) == nullptr;
    EXPECT_THAT(why, HasSubstr("version"));
    return refused;
  };
  EXPECT_TRUE(spoil([](crossover_page& page) { page.magic = 1; }));
  EXPECT_TRUE(spoil([](crossover_page& page) { page.version = 2; }));
  EXPECT_TRUE(spoil([](crossover_page& page) { page.bytes = 8; }));
  EXPECT_TRUE(spoil([](crossover_page& page) { page.clients = 1; }));
}

}  // namespace
}  // namespace crossover::arbiter_client
