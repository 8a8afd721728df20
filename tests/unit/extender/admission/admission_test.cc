#include "extender/admission/admission.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/unit/common/kube/server.h"
#include "tests/unit/extender/http/asking.h"

// OpenSSL frees what it keeps for a thread when that thread ends. The threads of cpprestsdk end only with
// the process, so the leak sanitizer would report theirs.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() { return "leak:libcrypto.so\n"; }  // NOLINT

namespace crossover::extender::admission {
namespace {

namespace fs = std::filesystem;
using extender::testing::Ask;
using extender::testing::FreePort;
using extender::testing::MakeCertificate;

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() : port_(FreePort()) {
    std::string name = ::testing::TempDir() + "admission-XXXXXX";
    directory_ = mkdtemp(name.data());
    for (const char* pair : {"a", "b"})
      MakeCertificate(File(std::string(pair) + ".crt"), File(std::string(pair) + ".key"));
  }
  ~AdmissionTest() override { fs::remove_all(directory_); }

  std::string File(const std::string& name) const { return (directory_ / name).string(); }
  void Install(const std::string& from, const std::string& to) const {
    fs::copy_file(File(from), File("draft"), fs::copy_options::overwrite_existing);
    fs::rename(File("draft"), File(to));
  }
  // Starts a server with a certificate file that another program writes.
  std::unique_ptr<Admission> Start() {
    Admission::Settings settings;
    settings.access.server = api_server_.url();
    settings.listen = {.port = port_, .certificate_file = File("tls.crt"), .key_file = File("tls.key")};
    return std::make_unique<Admission>(
        std::move(settings), [] { return false; }, nullptr);
  }
  std::string AskedSays() const {
    return Ask({.url = "https://127.0.0.1:" + std::to_string(port_) + "/", .ca_file = File("b.crt")}).error;
  }
  static void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

  const int port_;
  fs::path directory_;
  kube::Server api_server_;
};

// A pod that is ready without a certificate would let a rollout replace the pods that have one.
TEST_F(AdmissionTest, IsNotReadyWithoutACertificate) {
  Install("a.crt", "tls.crt");
  Install("b.key", "tls.key");
  for (const char* list : {"/api/v1/resourcequotas", "/api/v1/limitranges"})
    api_server_.Answer({.body = R"({"metadata":{"resourceVersion":"7"},"items":[]})", .to = list});
  const auto admission = Start();
  api_server_.AwaitRequest(3);  // the quotas and the limit ranges are known
  while (AskedSays().find("connect to") != std::string::npos) Pause();
  EXPECT_FALSE(admission->ready());
  EXPECT_EQ(admission->certificate_until_s(), 0);
  Install("b.crt", "tls.crt");
  while (!admission->ready()) Pause();
  EXPECT_GT(admission->certificate_until_s(), 0);
}

}  // namespace
}  // namespace crossover::extender::admission
