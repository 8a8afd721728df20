#include "tests/unit/extender/http/asking.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <random>

namespace crossover::extender::testing {
namespace {

sockaddr_in Address(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::size_t Collect(char* bytes, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(bytes, size * count);
  return size * count;
}

void Require(bool true_thing) {
  if (!true_thing) std::abort();
}

}  // namespace

TakenPort::TakenPort() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = Address(0);
  socklen_t size = sizeof(address);
  Require(bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(fd_, 1) == 0);
  Require(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
}

TakenPort::~TakenPort() { close(fd_); }

// The port is below the range that the kernel gives to outgoing connections, so that no program that runs
// beside this one takes it before its server does.
int FreePort() {
  static std::mt19937 random{std::random_device{}()};
  for (;;) {
    const int port = std::uniform_int_distribution{10'000, 30'000}(random);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = Address(port);
    const bool free = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    if (free) return port;
  }
}

Reply Ask(const Question& question) {
  const std::unique_ptr<CURL, void (*)(CURL*)> easy(curl_easy_init(), curl_easy_cleanup);
  const auto set = [&easy](CURLoption option, auto value) { curl_easy_setopt(easy.get(), option, value); };
  Reply reply;
  curl_slist* headers = curl_slist_append(nullptr, "Expect:");
  for (const std::string& header : question.headers) headers = curl_slist_append(headers, header.c_str());
  set(CURLOPT_URL, question.url.c_str());
  set(CURLOPT_HTTPHEADER, headers);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROXY, "");
  set(CURLOPT_TIMEOUT, 60L);
  set(CURLOPT_WRITEFUNCTION, &Collect);
  set(CURLOPT_WRITEDATA, &reply.body);
  if (!question.body.empty()) {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(question.body.size()));
    set(CURLOPT_POSTFIELDS, question.body.c_str());
  }
  if (!question.method.empty()) set(CURLOPT_CUSTOMREQUEST, question.method.c_str());
  if (!question.ca_file.empty()) set(CURLOPT_CAINFO, question.ca_file.c_str());
  if (!question.certificate_file.empty()) {
    set(CURLOPT_SSLCERT, question.certificate_file.c_str());
    set(CURLOPT_SSLKEY, question.key_file.c_str());
  }
  const CURLcode code = curl_easy_perform(easy.get());
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &reply.status);
  if (code != CURLE_OK) {
    reply.error = curl_easy_strerror(code);
    reply.status = 0;
  }
  curl_slist_free_all(headers);
  return reply;
}

RawConnection::RawConnection(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = Address(port);
  Require(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
}

RawConnection::~RawConnection() { close(fd_); }

void RawConnection::Say(const std::string& bytes) const {
  Require(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
}

std::string RawConnection::Hear() const {
  shutdown(fd_, SHUT_WR);
  std::string heard;
  std::array<char, 1024> bytes{};
  for (ssize_t size; (size = recv(fd_, bytes.data(), bytes.size(), 0)) > 0;) {
    heard.append(bytes.data(), static_cast<std::size_t>(size));
  }
  return heard;
}

void MakeCertificate(const std::string& chain_file, const std::string& key_file, long lasts_s) {
  static long serial = 0;
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), lasts_s);
  X509_set_pubkey(certificate, key);
  const std::string name = "certificate-" + std::to_string(serial);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  X509_EXTENSION* address = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
  X509_add_ext(certificate, address, -1);
  X509_EXTENSION_free(address);
  Require(X509_sign(certificate, key, EVP_sha256()) > 0);
  std::FILE* file = std::fopen(chain_file.c_str(), "we");
  PEM_write_X509(file, certificate);
  std::fclose(file);
  file = std::fopen(key_file.c_str(), "we");
  PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

int Threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace crossover::extender::testing
