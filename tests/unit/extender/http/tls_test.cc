// Tests HTTPS: certificates that are renewed while they are in use, and clients that must have one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>

#include "extender/http/certificate.h"
#include "extender/http/server.h"
#include "tests/unit/extender/http/asking.h"

// OpenSSL frees what it keeps for a thread when that thread ends. The threads of cpprestsdk end only with
// the process, so the leak sanitizer would report theirs.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() { return "leak:libcrypto.so\n"; }  // NOLINT

namespace crossover::extender {
namespace {

using namespace crossover::extender::testing;  // NOLINT(google-build-using-namespace)
namespace fs = std::filesystem;

class Tls : public ::testing::Test {
 protected:
  Tls() {
    std::string name = ::testing::TempDir() + "tls-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~Tls() override { fs::remove_all(directory_); }

  std::string File(const std::string& name) const { return (directory_ / name).string(); }
  void Make(const std::string& name) const { MakeCertificate(File(name + ".crt"), File(name + ".key")); }
  // Replaces the files that the server reads.
  void Install(const std::string& certificate, const std::string& key) const {
    Replace(certificate + ".crt", "serving.crt");
    Replace(key + ".key", "serving.key");
  }
  void Replace(const std::string& from, const std::string& to) const {
    fs::copy_file(File(from), File("draft"), fs::copy_options::overwrite_existing);
    fs::rename(File("draft"), File(to));
  }
  void Serve(const std::string& client_ca = "") {
    port_ = FreePort();
    server_ = std::make_unique<HttpServer>(
        HttpServer::Settings{.port = port_,
                             .certificate_file = File("serving.crt"),
                             .key_file = File("serving.key"),
                             .client_ca_file = client_ca},
        std::map<std::string, HttpServer::Handler>{
            {"/", [](const HttpRequest&, const HttpServer::Reply& reply) { reply({}); }}});
  }
  Question To(const std::string& trusted) const {
    return {.url = "https://127.0.0.1:" + std::to_string(port_) + "/", .ca_file = File(trusted + ".crt")};
  }
  bool Answers(const std::string& trusted) const { return Ask(To(trusted)).status == 200; }

  fs::path directory_;
  int port_ = 0;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(Tls, ARenewedCertificateIsServedAtOnce) {
  Make("old");
  Make("new");
  Install("old", "old");
  Serve();
  EXPECT_TRUE(Answers("old"));
  EXPECT_FALSE(Answers("new"));
  Install("new", "new");
  EXPECT_TRUE(Answers("new"));
  EXPECT_FALSE(Answers("old"));
}

TEST_F(Tls, TheOldOneServesWhileTheNewIsIncomplete) {
  Make("old");
  Make("new");
  Install("old", "old");
  Serve();
  EXPECT_TRUE(Answers("old"));
  Install("new", "old");
  EXPECT_TRUE(Answers("old"));
  fs::remove(File("serving.key"));
  EXPECT_TRUE(Answers("old"));
  Install("new", "new");
  EXPECT_TRUE(Answers("new"));
}

TEST_F(Tls, ServesOnceThereIsACertificate) {
  Serve();
  Make("first");
  EXPECT_FALSE(Answers("first"));
  Install("first", "first");
  EXPECT_TRUE(Answers("first"));
}

TEST_F(Tls, ItIsKnownWhenTheCertificateEnds) {
  Serve();
  EXPECT_EQ(server_->certificate_until_s(), 0) << "there is none";
  MakeCertificate(File("short.crt"), File("short.key"), 3600);
  MakeCertificate(File("long.crt"), File("long.key"), 7200);
  Install("short", "short");
  const std::int64_t until_s = server_->certificate_until_s();
  EXPECT_NEAR(static_cast<double>(until_s), static_cast<double>(std::time(nullptr) + 3600), 60);
  Install("long", "short");
  EXPECT_EQ(server_->certificate_until_s(), until_s) << "of the one that is served";
  Install("long", "long");
  EXPECT_GE(server_->certificate_until_s(), until_s + 3500);
}

TEST_F(Tls, ClientsMustHaveACertificateWhereThatIsWanted) {
  Make("server");
  Make("client");
  Make("stranger");
  Install("server", "server");
  Serve(File("client.crt"));
  EXPECT_FALSE(Answers("server"));
  Question question = To("server");
  question.certificate_file = File("stranger.crt");
  question.key_file = File("stranger.key");
  EXPECT_EQ(Ask(question).status, 0);
  question.certificate_file = File("client.crt");
  question.key_file = File("client.key");
  EXPECT_EQ(Ask(question).status, 200);
}

TEST_F(Tls, PlainAndSilentClientsDoNotStopOthers) {
  Make("server");
  Install("server", "server");
  Serve();
  const RawConnection silent(port_);
  const RawConnection plain(port_);
  plain.Say("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(Answers("server"));
}

TEST_F(Tls, ACertificateIsReadOnceForEachChange) {
  Make("one");
  Install("one", "one");
  Certificate certificate(File("serving.crt"), File("serving.key"));
  const auto first = certificate.Current();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(certificate.Current(), first);
  Install("one", "one");
  EXPECT_NE(certificate.Current(), first);
}

}  // namespace
}  // namespace crossover::extender
