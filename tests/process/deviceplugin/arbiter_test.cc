// Tests a real daemon with real clients in processes of their own.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <set>
#include <sstream>

#include "common/base/watch_reason.h"
#include "tests/process/deviceplugin/client.h"
#include "tests/process/deviceplugin/processes.h"

namespace crossover::testing {
namespace {

using ::testing::HasSubstr;

class ArbiterTest : public ::testing::Test {
 protected:
  void StartDaemon(std::vector<std::string> flags = {}) {
    std::vector<std::string> command = {ARBITER_PROGRAM, "--socket",    socket(), "--trace",
                                        trace(),         "--log-level", "debug"};
    command.insert(command.end(), flags.begin(), flags.end());
    daemon_ = std::make_unique<Program>(command);
    ASSERT_TRUE(daemon_->AwaitLine("listening on")) << daemon_->seen();
  }
  void StopDaemon() {
    daemon_->Signal(SIGTERM);
    EXPECT_EQ(daemon_->Wait(), 0) << daemon_->seen();
  }
  std::string socket() const { return dir_.File("arbiter.sock"); }
  std::string trace() const { return dir_.File("trace.jsonl"); }
  std::string TraceText() const {
    std::ostringstream text;
    text << std::ifstream(trace()).rdbuf();
    return text.str();
  }

  TempDir dir_;
  std::unique_ptr<Program> daemon_;
};

// Takes turns for ever, and reports 't' when it takes the first.
void TakeTurns(const Client& client, const Child::Reporter& reporter) {
  for (std::uint32_t k = 1;; ++k) {
    client.Acquire(k);
    if (k == 1) reporter.Report('t');
    client.Release(k);
  }
}

void JoinLocked(Client* client, const std::string& gang) {
  if (!client->Join(gang)) _exit(1);
  client->StartLiveness();
  client->SetPhase(CROSSOVER_PHASE_LOCKED);
}

TEST_F(ArbiterTest, WelcomesAClientWithASealedPage) {
  StartDaemon();
  Client client(socket());
  ASSERT_TRUE(client.Join("a")) << client.refusal();
  EXPECT_EQ(client.page()->magic, CROSSOVER_TURNSTILE_MAGIC);
  EXPECT_EQ(client.page()->bytes, sizeof(crossover_page));
  EXPECT_EQ(client.self().mode, CROSSOVER_MODE_OBSERVE);
  EXPECT_EQ(fcntl(client.page_fd(), F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  EXPECT_NE(ftruncate(client.page_fd(), 0), 0);
  EXPECT_NE(ftruncate(client.page_fd(), 8192), 0);
}

TEST_F(ArbiterTest, ClientsOfOneGpuShareAPageAndOthersDoNot) {
  StartDaemon();
  Client a(socket()), b(socket()), c(socket());
  ASSERT_TRUE(a.Join("a"));
  ASSERT_TRUE(b.Join("b"));
  ASSERT_TRUE(c.Join("a", "GPU-00000000-0000-0000-0000-000000000001"));
  EXPECT_NE(a.slot(), b.slot());
  a.self().heartbeat = 7;
  EXPECT_EQ(b.page()->slot[a.slot()].heartbeat, 7u);
  EXPECT_EQ(c.page()->slot[a.slot()].heartbeat, 0u);
}

TEST_F(ArbiterTest, RefusesASecondRankOfAGangAndSaysWhy) {
  StartDaemon();
  Client first(socket()), second(socket());
  ASSERT_TRUE(first.Join("a"));
  EXPECT_FALSE(second.Join("a"));
  EXPECT_THAT(second.refusal(), HasSubstr("gang a is on this GPU already"));
  second.AwaitEnd();
}

TEST_F(ArbiterTest, AnswersAProcessThatAsksHowMuchMemoryItMayHave) {
  StartDaemon();
  const Client client(socket());
  const crossover_header ask = {CROSSOVER_ASK, sizeof ask, CROSSOVER_PROTOCOL_VERSION, 0};
  ASSERT_TRUE(client.SendBytes(&ask, sizeof ask));
  crossover_limit limit{};
  ASSERT_EQ(recv(client.fd(), &limit, sizeof limit, 0), static_cast<ssize_t>(sizeof limit));
  EXPECT_EQ(limit.header.type, static_cast<std::uint32_t>(CROSSOVER_LIMIT));
  EXPECT_EQ(limit.memory_mib, 0u) << "it is in no pod";
  EXPECT_EQ(limit.known, 1u) << "and never will be";
}

TEST_F(ArbiterTest, TellsARankThatItTakesNoTurnsWhereOthersOfItsJobDo) {
  StartDaemon();
  Client taking(socket()), watched(socket());
  ASSERT_TRUE(taking.Join("a"));
  ASSERT_TRUE(watched.Join("a", "GPU-00000000-0000-0000-0000-000000000001"));
  taking.SetPhase(CROSSOVER_PHASE_TAKING);
  watched.self().watch_reason = static_cast<std::uint32_t>(base::WatchReason::kStreams);
  crossover_profile profile{};
  profile.header = {CROSSOVER_PROFILE, sizeof profile, CROSSOVER_PROTOCOL_VERSION, 0};
  ASSERT_TRUE(watched.SendBytes(&profile, sizeof profile));
  crossover_notice notice{};
  ASSERT_EQ(recv(watched.fd(), &notice, sizeof notice, 0), static_cast<ssize_t>(sizeof notice));
  EXPECT_EQ(notice.header.type, static_cast<std::uint32_t>(CROSSOVER_NOTICE));
  EXPECT_STREQ(notice.text, "other ranks of this job take turns, and this one does not");
  EXPECT_TRUE(daemon_->AwaitLine("does not: more streams or events than can be tracked"));
}

TEST_F(ArbiterTest, RefusesAGpuThatIsNotConfigured) {
  StartDaemon({"--gpus", "GPU-00000000-0000-0000-0000-000000000001"});
  Client client(socket());
  EXPECT_FALSE(client.Join("a"));
  EXPECT_THAT(client.refusal(), HasSubstr("not among the GPUs"));
}

TEST_F(ArbiterTest, GatesTwoLockedClientsAndUngatesWhenOneStops) {
  StartDaemon();
  Client a(socket());
  ASSERT_TRUE(a.Join("a"));
  a.SetPhase(CROSSOVER_PHASE_LOCKED);
  {
    Client b(socket());
    ASSERT_TRUE(b.Join("b"));
    b.SetPhase(CROSSOVER_PHASE_LOCKED);
    a.AwaitMode(CROSSOVER_MODE_GATE);
    b.AwaitMode(CROSSOVER_MODE_GATE);
    b.SetPhase(CROSSOVER_PHASE_LEARNING);
    a.AwaitMode(CROSSOVER_MODE_OBSERVE);
    b.SetPhase(CROSSOVER_PHASE_LOCKED);
    a.AwaitMode(CROSSOVER_MODE_GATE);
  }
}

TEST_F(ArbiterTest, ObserveNeverGates) {
  StartDaemon({"--mode", "observe"});
  Client a(socket()), b(socket());
  ASSERT_TRUE(a.Join("a"));
  ASSERT_TRUE(b.Join("b"));
  a.SetPhase(CROSSOVER_PHASE_LOCKED);
  b.SetPhase(CROSSOVER_PHASE_LOCKED);
  const std::uint32_t beat = a.page()->arbiter_beat;
  while (static_cast<volatile std::uint32_t&>(a.page()->arbiter_beat) < beat + 3) usleep(1000);
  EXPECT_EQ(a.self().mode, CROSSOVER_MODE_OBSERVE);
}

TEST_F(ArbiterTest, TwoProcessesTakeTurns) {
  StartDaemon();
  void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* inside = new (shared) std::atomic<int>(0);
  const auto body = [this, inside](const std::string& gang) {
    return [this, inside, gang](const Child::Reporter& reporter) {
      Client client(socket());
      JoinLocked(&client, gang);
      client.AwaitMode(CROSSOVER_MODE_GATE);
      client.SetPhase(CROSSOVER_PHASE_TAKING);
      for (std::uint32_t k = 1; k <= 200; ++k) {
        client.Acquire(k);
        if (inside->fetch_add(1) != 0) reporter.Report('!');
        usleep(200);
        inside->fetch_sub(1);
        client.Release(k);
      }
      reporter.Report('d');
      client.AwaitEnd();
    };
  };
  Child a(body("a")), b(body("b"));
  EXPECT_EQ(a.Await(), 'd');
  EXPECT_EQ(b.Await(), 'd');
  StopDaemon();
  EXPECT_THAT(TraceText(), HasSubstr(R"("slot":1,"gang":")"));
  EXPECT_THAT(TraceText(), HasSubstr(R"("event":"hold")"));
  EXPECT_THAT(TraceText(), HasSubstr(R"("event":"mode","mode":"gate")"));
}

TEST_F(ArbiterTest, AKilledHolderFreesTheNextClient) {
  StartDaemon({"--watchdog-floor-ms", "60000"});  // so that the watchdog does not free it
  Child holder([this](const Child::Reporter& reporter) {
    Client client(socket());
    JoinLocked(&client, "a");
    client.AwaitMode(CROSSOVER_MODE_GATE);
    client.Acquire(1);
    reporter.Report('h');
    for (;;) pause();
  });
  Child waiter([this](const Child::Reporter& reporter) {
    Client client(socket());
    JoinLocked(&client, "b");
    client.AwaitMode(CROSSOVER_MODE_GATE);
    // The other client holds first.
    while (static_cast<volatile std::uint32_t&>(client.page()->slot[1 - client.slot()].hold) == 0)
      usleep(100);
    reporter.Report('w');
    TakeTurns(client, reporter);
  });
  ASSERT_EQ(holder.Await(), 'h');
  ASSERT_EQ(waiter.Await(), 'w');
  holder.Kill();
  EXPECT_EQ(waiter.Await(), 't');
  // The daemon sees the end of the holder's robust word or of its connection, whichever comes first.
  ASSERT_TRUE(daemon_->AwaitLine("left: ")) << daemon_->seen();
}

// A fork of the client keeps the client's socket open, as data loaders do.
TEST_F(ArbiterTest, AKilledClientWithAForkThatLivesOnIsSeenDead) {
  StartDaemon();
  Client other(socket());
  ASSERT_TRUE(other.Join("b"));
  std::array<int, 2> test_lives;  // only the test has its writing end
  ASSERT_EQ(pipe2(test_lives.data(), O_CLOEXEC), 0);
  Child child([this, test_lives](const Child::Reporter& reporter) {
    close(test_lives[1]);
    Client client(socket());
    JoinLocked(&client, "a");
    if (fork() == 0) {
      char byte = 0;
      _exit(static_cast<int>(read(test_lives[0], &byte, 1)));
    }
    reporter.Report('j');
    for (;;) pause();
  });
  ASSERT_EQ(child.Await(), 'j');
  const std::uint32_t generation = other.self().generation;
  child.Kill();
  while (static_cast<volatile std::uint32_t&>(other.self().generation) == generation) usleep(1000);
  for (const int fd : test_lives) close(fd);
}

TEST_F(ArbiterTest, AForgedWordOfLifeIsNotBelieved) {
  StartDaemon();
  Client a(socket()), b(socket());
  ASSERT_TRUE(a.Join("a"));
  ASSERT_TRUE(b.Join("b"));
  a.self().alive = 0xffffffff;
  const std::uint32_t generation = a.self().generation;
  Client third(socket());  // the daemon serves it after it has looked at the word
  ASSERT_TRUE(third.Join("c"));
  while (static_cast<volatile std::uint32_t&>(a.self().generation) == generation) usleep(1000);
  EXPECT_EQ(a.self().generation, generation + 1) << "only the third client changed the membership";
}

TEST_F(ArbiterTest, SlotsAreResetBeforeTheyAreUsedAgain) {
  StartDaemon();
  for (int i = 0; i < 2 * CROSSOVER_MAX_CLIENTS; ++i) {
    Client client(socket());
    ASSERT_TRUE(client.Join("a"));
    const crossover_slot& self = client.self();
    EXPECT_EQ(self.ready | self.hold | self.rel | self.gate | self.phase | self.faults, 0u);
    client.self().ready = client.self().hold = client.self().gate = 12345;
    client.self().phase = CROSSOVER_PHASE_TAKING;
    shutdown(client.fd(), SHUT_WR);
    client.AwaitEnd();
  }
}

TEST_F(ArbiterTest, ManyClientsFillTheSlotsAndTheNextIsRefused) {
  StartDaemon();
  std::vector<std::unique_ptr<Client>> clients;
  std::set<std::uint32_t> slots;
  for (int i = 0; i < CROSSOVER_MAX_CLIENTS; ++i) {
    clients.push_back(std::make_unique<Client>(socket()));
    ASSERT_TRUE(clients.back()->Join("gang" + std::to_string(i))) << clients.back()->refusal();
    slots.insert(clients.back()->slot());
  }
  EXPECT_EQ(slots.size(), std::size_t{CROSSOVER_MAX_CLIENTS});
  Client late(socket());
  EXPECT_FALSE(late.Join("late"));
  EXPECT_THAT(late.refusal(), HasSubstr("slots of this GPU are in use"));
}

TEST_F(ArbiterTest, LimitsConnectionsPerUser) {
  StartDaemon();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 128; ++i) {
    clients.push_back(std::make_unique<Client>(socket()));
    ASSERT_TRUE(clients.back()->connected());
  }
  Client late(socket());
  const Answer answer = late.Receive();
  EXPECT_EQ(answer.kind, Answer::Kind::kRefused);
  EXPECT_THAT(answer.reason, HasSubstr("too many connections"));
}

TEST_F(ArbiterTest, ASilentConnectionIsClosed) {
  StartDaemon();
  Client client(socket());
  const Answer answer = client.Receive();
  EXPECT_EQ(answer.kind, Answer::Kind::kRefused);
  EXPECT_EQ(answer.reason, "no hello in time");
  client.AwaitEnd();
}

TEST_F(ArbiterTest, TermOpensGatesAndClosesConnections) {
  StartDaemon();
  Child holder([this](const Child::Reporter& reporter) {
    Client client(socket());
    JoinLocked(&client, "a");
    client.AwaitMode(CROSSOVER_MODE_GATE);
    client.Acquire(1);
    reporter.Report('h');
    while (static_cast<volatile std::uint32_t&>(client.page()->slot[1 - client.slot()].ready) == 0)
      usleep(100);
    reporter.Report('a');  // the other client waits
    client.AwaitEnd();
    reporter.Report('e');
    for (;;) pause();
  });
  Child waiter([this](const Child::Reporter& reporter) {
    Client client(socket());
    JoinLocked(&client, "b");
    client.AwaitMode(CROSSOVER_MODE_GATE);
    while (static_cast<volatile std::uint32_t&>(client.page()->slot[1 - client.slot()].hold) == 0)
      usleep(100);
    reporter.Report('w');
    client.Acquire(1);
    reporter.Report('t');
    for (;;) pause();
  });
  ASSERT_EQ(holder.Await(), 'h');
  ASSERT_EQ(waiter.Await(), 'w');
  ASSERT_EQ(holder.Await(), 'a');
  StopDaemon();
  EXPECT_EQ(waiter.Await(), 't');
  EXPECT_EQ(holder.Await(), 'e');
  struct stat status {};
  EXPECT_NE(stat(socket().c_str(), &status), 0) << "the socket is removed";
}

TEST_F(ArbiterTest, AStuckHolderIsPassedByTheWatchdog) {
  StartDaemon({"--watchdog-floor-ms", "20"});
  Client a(socket()), b(socket());
  ASSERT_TRUE(a.Join("a"));
  ASSERT_TRUE(b.Join("b"));
  a.SetPhase(CROSSOVER_PHASE_LOCKED);
  b.SetPhase(CROSSOVER_PHASE_LOCKED);
  a.AwaitMode(CROSSOVER_MODE_GATE);
  a.Acquire(1);
  b.Acquire(1);  // returns although a never releases
  StopDaemon();
  EXPECT_THAT(TraceText(), HasSubstr(R"("event":"open")"));
}

TEST_F(ArbiterTest, ASecondDaemonDoesNotTakeTheSocketAway) {
  StartDaemon();
  Program second({ARBITER_PROGRAM, "--socket", socket()});
  EXPECT_EQ(second.Wait(), 2);
  EXPECT_THAT(second.seen(), HasSubstr("expected no other daemon that listens on it, got one"));
  Client client(socket());
  EXPECT_TRUE(client.Join("a"));
}

TEST_F(ArbiterTest, AKilledDaemonIsReplacedAndItsClientsSeeTheEnd) {
  StartDaemon();
  Client client(socket());
  ASSERT_TRUE(client.Join("a"));
  daemon_->Signal(SIGKILL);
  EXPECT_EQ(daemon_->Wait(), -SIGKILL);
  client.AwaitEnd();
  StartDaemon();
  Client again(socket());
  EXPECT_TRUE(again.Join("a"));
}

class HostileTest : public ArbiterTest {
 protected:
  // Sends `bytes` as the first message of a connection and returns the daemon's answer.
  Answer Say(const void* bytes, std::size_t size) {
    Client client(socket());
    EXPECT_TRUE(client.SendBytes(bytes, size));
    Answer answer = client.Receive();
    client.AwaitEnd();
    return answer;
  }
  void ExpectAlive() {
    Client client(socket());
    EXPECT_TRUE(client.Join("alive")) << client.refusal();
  }
};

TEST_F(HostileTest, WrongHellosAreRefusedWithTheReason) {
  StartDaemon();
  const auto refusal = [this](const std::function<void(crossover_hello*)>& spoil) {
    crossover_hello hello = MakeHello("a");
    spoil(&hello);
    const Answer answer = Say(&hello, sizeof(hello));
    EXPECT_EQ(answer.kind, Answer::Kind::kRefused);
    return answer.reason;
  };
  EXPECT_THAT(refusal([](auto* hello) { hello->header.version = 9; }), HasSubstr("expected 1, got 9"));
  EXPECT_THAT(refusal([](auto* hello) { hello->header.bytes = 5; }), HasSubstr("size"));
  EXPECT_THAT(refusal([](auto* hello) { hello->gang[0] = 0; }), HasSubstr("gang"));
  EXPECT_THAT(refusal([](auto* hello) { hello->gang[1] = '\n'; }), HasSubstr("gang"));
  EXPECT_THAT(refusal([](auto* hello) { memset(hello->gang, 'x', sizeof(hello->gang)); }), HasSubstr("gang"));
  EXPECT_THAT(refusal([](auto* hello) { hello->gpu_uuid[3] = '_'; }), HasSubstr("gpu_uuid"));
  EXPECT_THAT(refusal([](auto* hello) { hello->rank = 2; }), HasSubstr("rank"));
  EXPECT_THAT(refusal([](auto* hello) { hello->transport = 77; }), HasSubstr("transport"));
  ExpectAlive();
}

TEST_F(HostileTest, ShortLongAndEarlyMessagesEndTheConnection) {
  StartDaemon();
  EXPECT_THAT(Say("x", 1).reason, HasSubstr("message: size: expected at least 16"));
  const std::string huge(100'000, 'x');
  EXPECT_THAT(Say(huge.data(), huge.size()).reason, HasSubstr("message: size: expected at most"));
  crossover_profile profile{};
  profile.header = {CROSSOVER_PROFILE, sizeof(profile), CROSSOVER_PROTOCOL_VERSION, 0};
  EXPECT_THAT(Say(&profile, sizeof(profile)).reason, HasSubstr("profile: expected after hello"));
  ExpectAlive();
}

TEST_F(HostileTest, UnknownTypesAreSkippedAndFloodsEnd) {
  StartDaemon();
  Client client(socket());
  crossover_header later{99, sizeof(later), CROSSOVER_PROTOCOL_VERSION, 0};
  ASSERT_TRUE(client.SendBytes(&later, sizeof(later)));
  ASSERT_TRUE(client.Join("a"));
  for (int i = 0; i < 200 && client.SendBytes(&later, sizeof(later)); ++i) {
  }
  // The daemon has closed the connection with unread messages, so the first error is ECONNRESET.
  std::string reason = client.Receive().reason;
  if (reason.empty()) reason = client.Receive().reason;
  EXPECT_THAT(reason, HasSubstr("too many messages"));
  ExpectAlive();
}

TEST_F(HostileTest, ASecondHelloEndsTheMembership) {
  StartDaemon();
  Client client(socket());
  ASSERT_TRUE(client.Join("a"));
  const crossover_hello again = MakeHello("b");
  ASSERT_TRUE(client.SendBytes(&again, sizeof(again)));
  EXPECT_THAT(client.Receive().reason, HasSubstr("hello: expected one on a connection, got two"));
  client.AwaitEnd();
}

TEST_F(HostileTest, APageFullOfGarbageHarmsNoOther) {
  StartDaemon();
  Client vandal(socket()), victim(socket());
  ASSERT_TRUE(vandal.Join("v"));
  ASSERT_TRUE(victim.Join("w", "GPU-00000000-0000-0000-0000-000000000001"));
  std::uint32_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    auto* words = reinterpret_cast<std::uint32_t*>(vandal.page());
    for (std::size_t i = 0; i < sizeof(crossover_page) / 4; ++i)
      words[i] = state = state * 1664525 + 1013904223;
  }
  EXPECT_EQ(victim.self().mode, CROSSOVER_MODE_OBSERVE);
  ExpectAlive();
}

}  // namespace
}  // namespace crossover::testing
