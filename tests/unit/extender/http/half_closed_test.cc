#include "extender/http/half_closed.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "common/base/fd.h"

namespace crossover::extender {
namespace {

// Both ends of a TCP connection of this process, the accepted one as asio has it: watched for edges.
class Connected {
 public:
  Connected() {
    const base::UniqueFd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listening.get(), any, size), 0);
    EXPECT_EQ(::listen(listening.get(), 1), 0);
    EXPECT_EQ(::getsockname(listening.get(), any, &size), 0);
    port_ = ntohs(address.sin_port);
    client_.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(client_.get(), any, size), 0);
    accepted_.Reset(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    epoll_event edges{.events = EPOLLIN | EPOLLET, .data = {}};
    EXPECT_EQ(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, accepted_.get(), &edges), 0);
  }

  int port() const { return port_; }
  int client() const { return client_.get(); }
  int accepted() const { return accepted_.get(); }
  // Returns whether an edge comes within `patience_ms`.
  bool Edge(int patience_ms) const {
    epoll_event event{};
    return ::epoll_wait(epoll_.get(), &event, 1, patience_ms) == 1;
  }

 private:
  int port_ = 0;
  const base::UniqueFd epoll_{::epoll_create1(EPOLL_CLOEXEC)};
  base::UniqueFd client_, accepted_;
};

std::string Received(int fd) {
  char some[16];
  const ssize_t bytes = ::recv(fd, some, sizeof some, MSG_DONTWAIT);
  return bytes < 0 ? "nothing yet" : std::string(some, static_cast<std::size_t>(bytes));
}

constexpr int kPatienceMs = 10'000;

TEST(HalfClosed, TheEndIsReportedAgain) {
  const Connected both;
  ::send(both.client(), "hi", 2, 0);
  ::shutdown(both.client(), SHUT_WR);
  while (both.Edge(kPatienceMs) && Received(both.accepted()) != "") {
  }
  EXPECT_FALSE(both.Edge(0)) << "the kernel reports the end once";
  EXPECT_EQ(ReportEndsAgain(both.port()), 1);
  EXPECT_TRUE(both.Edge(kPatienceMs));
  EXPECT_EQ(Received(both.accepted()), "");
  EXPECT_EQ(ReportEndsAgain(both.port()), 1);
  EXPECT_TRUE(both.Edge(kPatienceMs)) << "each time";
}

TEST(HalfClosed, BytesThatWereNotReadStayAndTheAnswerArrives) {
  const Connected both;
  ::send(both.client(), "hi", 2, 0);
  ::shutdown(both.client(), SHUT_WR);
  while (ReportEndsAgain(both.port()) == 0) {  // until the end has arrived
  }
  EXPECT_EQ(Received(both.accepted()), "hi");
  EXPECT_EQ(Received(both.accepted()), "");
  EXPECT_EQ(::send(both.accepted(), "ho", 2, MSG_NOSIGNAL), 2);
  EXPECT_EQ(Received(both.client()), "ho");
}

TEST(HalfClosed, OthersAreLeftAlone) {
  const Connected both, ended;
  ::shutdown(ended.client(), SHUT_WR);
  while (ReportEndsAgain(ended.port()) == 0) {
  }
  EXPECT_EQ(ReportEndsAgain(both.port()), 0);
  ::send(both.client(), "hi", 2, 0);
  EXPECT_TRUE(both.Edge(kPatienceMs));
  EXPECT_EQ(Received(both.accepted()), "hi");
  EXPECT_EQ(Received(both.accepted()), "nothing yet");
}

}  // namespace
}  // namespace crossover::extender
