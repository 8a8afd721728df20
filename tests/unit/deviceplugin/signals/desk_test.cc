// Tests the desk of an arbiter over its real socket.
#include "deviceplugin/signals/desk.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "deviceplugin/arbiter/arbiter.h"
#include "deviceplugin/signals/wire.h"
#include "tests/unit/deviceplugin/arbiter_connection.h"
#include "tests/unit/deviceplugin/known_processes.h"
#include "tests/unit/deviceplugin/recording_observer.h"

namespace crossover::signals {
namespace {

using ::testing::HasSubstr;

constexpr char kGpu[] = "GPU-00000000-0000-0000-0000-000000000000";

// Lets processes of this installation be signallers, or none.
class Installation : public deviceplugin::KnownProcesses {
 public:
  arbiter::Account AccountOf(const arbiter::Peer&) const override { return {"pod u", "u"}; }
  bool MaySignal(const arbiter::Account&) const override { return may_signal; }

  bool may_signal = true;
};

class DeskTest : public ::testing::Test {
 protected:
  DeskTest() { EXPECT_NE(mkdtemp(directory_), nullptr); }
  ~DeskTest() override {
    arbiter_->Stop();
    serving_.join();
    arbiter_.reset();
    rmdir(directory_);
  }

  void Start(bool with_desk = true) {
    arbiter::Settings settings;
    settings.socket.path = path();
    arbiter_ = std::make_unique<arbiter::Arbiter>(settings, &observer_, nullptr, &installation_,
                                                  with_desk ? &desk_ : nullptr);
    std::string error;
    ASSERT_TRUE(arbiter_->Start(&error)) << error;
    serving_ = std::thread([this] { arbiter_->Run(); });
  }

  template <class Wire>
  void Send(const base::UniqueFd& fd, const Wire& wire) {
    EXPECT_EQ(send(fd.get(), &wire, sizeof wire, 0), static_cast<ssize_t>(sizeof wire));
  }
  template <class Wire>
  Wire Next(const base::UniqueFd& fd) {
    Wire wire{};
    EXPECT_EQ(recv(fd.get(), &wire, sizeof wire, 0), static_cast<ssize_t>(sizeof wire));
    return wire;
  }
  base::UniqueFd Client(const char* gang) {
    base::UniqueFd fd = ConnectToArbiter(path());
    crossover_hello hello{};
    hello.header = HeaderOf<crossover_hello>(CROSSOVER_HELLO);
    std::strcpy(hello.gang, gang);
    std::strcpy(hello.gpu_uuid, kGpu);
    hello.gang_size = 1;
    Send(fd, hello);
    EXPECT_EQ(Next<crossover_welcome>(fd).header.type, static_cast<std::uint32_t>(CROSSOVER_WELCOME));
    return fd;
  }
  base::UniqueFd Signaller() {
    base::UniqueFd fd = ConnectToArbiter(path());
    crossover_signaller_hello hello{};
    hello.header = HeaderOf<crossover_signaller_hello>(CROSSOVER_SIGNALLER_HELLO);
    std::strcpy(hello.gpu_uuid, kGpu);
    hello.signal_version = CROSSOVER_SIGNAL_VERSION;
    Send(fd, hello);
    return fd;
  }
  void Want(const base::UniqueFd& fd) {
    Send(fd, crossover_want_signals{HeaderOf<crossover_want_signals>(CROSSOVER_WANT_SIGNALS), 1, 0});
  }

  std::string path() const { return std::string(directory_) + "/arbiter.sock"; }

  Installation installation_;
  arbiter::RecordingObserver observer_;
  SignalDesk desk_{&installation_};
  char directory_[32] = "/tmp/crossover-test-XXXXXX";
  std::unique_ptr<arbiter::Arbiter> arbiter_;
  std::thread serving_;
};

TEST_F(DeskTest, AnOfferComesBehindTheWelcome) {
  Start();
  const base::UniqueFd client = Client("a");
  EXPECT_EQ(Next<crossover_offer>(client).state, static_cast<std::uint32_t>(CROSSOVER_OFFER_ASK));
  Want(client);
  EXPECT_EQ(Next<crossover_offer>(client).state, static_cast<std::uint32_t>(CROSSOVER_OFFER_NO_SIGNALLER));
}

TEST_F(DeskTest, ASignallerFollowsWhenAClientAsks) {
  Start();
  const base::UniqueFd signaller = Signaller();
  const base::UniqueFd client = Client("a");
  Next<crossover_offer>(client);
  Want(client);
  EXPECT_EQ(Next<crossover_follow>(signaller).header.type, static_cast<std::uint32_t>(CROSSOVER_FOLLOW));
  EXPECT_EQ(desk_.figures().at(kGpu).signallers, 1);
}

TEST_F(DeskTest, TellsWhatASignallersProcessCosts) {
  Start();
  const base::UniqueFd signaller = Signaller();  // it is this process
  const base::UniqueFd client = Client("a");     // has its answer after the first message was read
  Next<crossover_offer>(client);
  Want(client);
  Next<crossover_follow>(signaller);
  const Figures figures = desk_.figures().at(kGpu);
  EXPECT_EQ(figures.processes, std::vector<std::int64_t>{getpid()});
  EXPECT_GT(figures.host.resident_bytes, 100'000u);
  EXPECT_TRUE(figures.host.cpu_seconds);
  EXPECT_EQ(figures.exported_bytes, 0u) << "it has not answered";
}

TEST_F(DeskTest, AProcessOfAJobIsNoSignaller) {
  installation_.may_signal = false;
  Start();
  const base::UniqueFd signaller = Signaller();
  EXPECT_THAT(Next<crossover_refused>(signaller).reason,
              HasSubstr("signaller: expected a process in no pod, or in a running pod of the daemon's own "
                        "namespace, got one of pod u"));
}

TEST_F(DeskTest, AConnectionOfAClientIsNoSignaller) {
  Start();
  const base::UniqueFd client = Client("a");
  Next<crossover_offer>(client);
  crossover_signaller_hello hello{};
  hello.header = HeaderOf<crossover_signaller_hello>(CROSSOVER_SIGNALLER_HELLO);
  std::strcpy(hello.gpu_uuid, kGpu);
  hello.signal_version = CROSSOVER_SIGNAL_VERSION;
  Send(client, hello);
  EXPECT_THAT(Next<crossover_refused>(client).reason, HasSubstr("got that of a client"));
}

TEST_F(DeskTest, AFifthSignallerIsRefusedInWords) {
  Start();
  std::vector<base::UniqueFd> four;
  for (int i = 0; i < 4; ++i) four.push_back(Signaller());
  const base::UniqueFd fifth = Signaller();
  EXPECT_THAT(Next<crossover_refused>(fifth).reason,
              HasSubstr("expected at most 4 signallers, got one more"));
}

TEST_F(DeskTest, AWishBeforeTheHelloIsRefused) {
  Start();
  const base::UniqueFd fd = ConnectToArbiter(path());
  Want(fd);
  EXPECT_THAT(Next<crossover_refused>(fd).reason,
              HasSubstr("expected a message about them after hello, got one before it"));
}

TEST_F(DeskTest, WithoutADeskNoClientHearsOfSignals) {
  Start(/*with_desk=*/false);
  const base::UniqueFd client = Client("a");
  Want(client);  // an older arbiter skips it
  char byte = 0;
  const base::UniqueFd other = Client("b");  // has its answer after the first message was read
  EXPECT_EQ(recv(client.get(), &byte, 1, MSG_DONTWAIT), -1);
}

}  // namespace
}  // namespace crossover::signals
