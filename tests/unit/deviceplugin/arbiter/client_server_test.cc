// Tests how an arbiter answers a process that asks for its limit, over its real socket.
#include "deviceplugin/arbiter/client_server.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "deviceplugin/arbiter/arbiter.h"
#include "tests/unit/deviceplugin/arbiter_connection.h"
#include "tests/unit/deviceplugin/recording_observer.h"

namespace crossover::arbiter {
namespace {

using ::testing::HasSubstr;

// Answers for one pod, and counts how often it reads who a process is.
class Limits64 : public IdentitySource {
 public:
  std::variant<Hello, Unidentified> Identify(const Peer&, const Hello& hello) const override { return hello; }
  Permissions PermissionsOf(const Member&) const override { return {}; }
  std::optional<std::uint32_t> MemoryOf(const Account& account) const override {
    return account.pod_uid == "u" ? known : std::nullopt;
  }
  Account AccountOf(const Peer&) const override {
    ++looks;
    return {"pod u", "u"};
  }

  std::optional<std::uint32_t> known;
  mutable int looks = 0;
};

class ClientServerTest : public ::testing::Test {
 protected:
  ClientServerTest() { EXPECT_NE(mkdtemp(directory_), nullptr); }
  ~ClientServerTest() override {
    arbiter_->Stop();
    serving_.join();
    arbiter_.reset();
    rmdir(directory_);
  }

  void Start() {
    Settings settings;
    settings.socket.path = path();
    arbiter_ = std::make_unique<Arbiter>(settings, &observer_, nullptr, &limits_);
    std::string error;
    ASSERT_TRUE(arbiter_->Start(&error)) << error;
    serving_ = std::thread([this] { arbiter_->Run(); });
  }

  base::UniqueFd Connect() const { return ConnectToArbiter(path()); }
  // Returns the connection of a client that has got its slot.
  base::UniqueFd Join() {
    base::UniqueFd fd = Connect();
    crossover_hello hello{};
    hello.header = {CROSSOVER_HELLO, sizeof hello, CROSSOVER_PROTOCOL_VERSION, 0};
    std::strcpy(hello.gang, "a");
    std::strcpy(hello.gpu_uuid, "GPU-00000000-0000-0000-0000-000000000000");
    hello.gang_size = 1;
    EXPECT_EQ(send(fd.get(), &hello, sizeof hello, 0), static_cast<ssize_t>(sizeof hello));
    Next<crossover_welcome>(fd);
    return fd;
  }
  void Ask(const base::UniqueFd& fd) {
    const crossover_header ask = {CROSSOVER_ASK, sizeof ask, CROSSOVER_PROTOCOL_VERSION, 0};
    EXPECT_EQ(send(fd.get(), &ask, sizeof ask, 0), static_cast<ssize_t>(sizeof ask));
  }

  template <typename Wire>
  Wire Next(const base::UniqueFd& fd) {
    Wire wire{};
    EXPECT_EQ(recv(fd.get(), &wire, sizeof wire, 0), static_cast<ssize_t>(sizeof wire));
    return wire;
  }

  crossover_limit Answer() {
    const base::UniqueFd fd = Connect();
    Ask(fd);
    return Next<crossover_limit>(fd);
  }

  std::string path() const { return std::string(directory_) + "/arbiter.sock"; }

  Limits64 limits_;
  RecordingObserver observer_;
  char directory_[32] = "/tmp/crossover-test-XXXXXX";
  std::unique_ptr<Arbiter> arbiter_;
  std::thread serving_;
};

TEST_F(ClientServerTest, AProcessThatAsksIsToldWhatItMayHave) {
  limits_.known = 64;
  Start();
  const crossover_limit limit = Answer();
  EXPECT_EQ(limit.memory_mib, 64u);
  EXPECT_EQ(limit.known, 1u);
  EXPECT_EQ(limits_.looks, 1) << "the processes are looked at once a connection";
}

TEST_F(ClientServerTest, WhatIsNotKnownYetIsNotTakenForNoLimit) {
  Start();
  EXPECT_EQ(Answer().known, 0u);
}

TEST_F(ClientServerTest, OneQuestionIsAnsweredOnAConnection) {
  limits_.known = 64;
  Start();
  const base::UniqueFd fd = Connect();
  Ask(fd);
  EXPECT_EQ(Next<crossover_limit>(fd).known, 1u);
  Ask(fd);
  EXPECT_THAT(Next<crossover_refused>(fd).reason, HasSubstr("ask: expected one on a connection, got two"));
}

TEST_F(ClientServerTest, AMemberHasItsLimitFromTheWelcome) {
  Start();
  const base::UniqueFd fd = Join();
  Ask(fd);
  EXPECT_THAT(Next<crossover_refused>(fd).reason, HasSubstr("ask: expected before hello, got one after it"));
}

// Sends messages of a report of `total` calls.
void SendCalls(const base::UniqueFd& fd, std::uint32_t first, std::uint32_t count, std::uint32_t total) {
  crossover_calls wire{};
  wire.header = {CROSSOVER_CALLS, sizeof wire, CROSSOVER_PROTOCOL_VERSION, 0};
  wire.first = first;
  wire.total = total;
  wire.count = count;
  for (std::uint32_t i = 0; i < count; ++i)
    wire.call[i] = {9, first + i, 4, 3, CROSSOVER_ALL_REDUCE, CROSSOVER_NO_PEER};
  EXPECT_EQ(send(fd.get(), &wire, sizeof wire, 0), static_cast<ssize_t>(sizeof wire));
}

TEST_F(ClientServerTest, AReportOfCallsCountsOnceItIsWhole) {
  Start();
  const base::UniqueFd fd = Join();
  SendCalls(fd, 0, 5, 7);
  SendCalls(fd, 0, 2, 6);  // another report begins
  SendCalls(fd, 3, 1, 6);  // a message is missing
  SendCalls(fd, 2, 4, 6);
  Ask(fd);  // its answer says that all was read
  Next<crossover_refused>(fd);
  arbiter_->Stop();
  serving_.join();
  serving_ = std::thread([] {});
  ASSERT_EQ(observer_.Count(EventKind::kCalls), 1u);
  const auto told = std::ranges::find(observer_.events, EventKind::kCalls, &Event::kind);
  ASSERT_EQ(told->calls->size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ((*told->calls)[i].bytes, i);
}

void SendReductions(const base::UniqueFd& fd, std::uint32_t narrowed, std::uint32_t type) {
  crossover_reductions wire{};
  wire.header = {type, sizeof wire, CROSSOVER_PROTOCOL_VERSION, 0};
  wire.narrowed[2] = narrowed;
  EXPECT_EQ(send(fd.get(), &wire, sizeof wire, 0), static_cast<ssize_t>(sizeof wire));
}

TEST_F(ClientServerTest, EachReportOfReductionsIsTold) {
  Start();
  const base::UniqueFd fd = Join();
  SendReductions(fd, 1, CROSSOVER_REDUCTIONS);
  SendReductions(fd, 9, CROSSOVER_REDUCTIONS + 1);  // as an older daemon sees the message: it is skipped
  SendReductions(fd, 2, CROSSOVER_REDUCTIONS);
  Ask(fd);  // its answer says that all was read
  EXPECT_THAT(Next<crossover_refused>(fd).reason, HasSubstr("ask: expected before hello"));
  arbiter_->Stop();
  serving_.join();
  serving_ = std::thread([] {});
  std::vector<std::uint32_t> told;
  for (const Event& event : observer_.events) {
    if (event.kind == EventKind::kReductions) told.push_back(event.reductions->narrowed[2]);
  }
  EXPECT_EQ(told, (std::vector<std::uint32_t>{1, 2}));
}

TEST_F(ClientServerTest, ReductionsOfAProcessThatIsNoClientEndItsConnection) {
  Start();
  const base::UniqueFd fd = Connect();
  SendReductions(fd, 1, CROSSOVER_REDUCTIONS);
  EXPECT_THAT(Next<crossover_refused>(fd).reason, HasSubstr("reductions: expected after hello"));
}

// A library of a later version reads the daemon's version from the refusal (docs/design/0067-versions.md).
TEST_F(ClientServerTest, ALaterHelloIsRefusedInAMessageOfOurVersion) {
  Start();
  for (const std::size_t more : {0u, 64u}) {
    SCOPED_TRACE(more);
    const base::UniqueFd fd = Connect();
    std::vector<std::byte> hello(sizeof(crossover_hello) + more);
    const crossover_header header = {CROSSOVER_HELLO, static_cast<std::uint32_t>(hello.size()),
                                     CROSSOVER_PROTOCOL_VERSION + 1, 0};
    std::memcpy(hello.data(), &header, sizeof header);
    EXPECT_EQ(send(fd.get(), hello.data(), hello.size(), 0), static_cast<ssize_t>(hello.size()));
    const auto refused = Next<crossover_refused>(fd);
    EXPECT_EQ(refused.header.type, CROSSOVER_REFUSED);
    EXPECT_EQ(refused.header.version, CROSSOVER_PROTOCOL_VERSION);
    EXPECT_THAT(
        refused.reason,
        HasSubstr(more == 0 ? "protocol version: expected 1, got 2"
                            : "expected at most 224, got more: the library may be of a later version"));
  }
  EXPECT_EQ(arbiter_->refusals().malformed, 2u);
  EXPECT_EQ(arbiter_->refusals().not_allowed, 0u);
}

TEST_F(ClientServerTest, CallsOfAProcessThatIsNoClientEndItsConnection) {
  Start();
  const base::UniqueFd fd = Connect();
  SendCalls(fd, 0, 1, 1);
  EXPECT_THAT(Next<crossover_refused>(fd).reason, HasSubstr("calls: expected after hello"));
  EXPECT_EQ(arbiter_->refusals().malformed, 1u);
}

}  // namespace
}  // namespace crossover::arbiter
