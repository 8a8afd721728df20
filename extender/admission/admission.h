// Runs the webhook inside the extender: its listener, its certificate and the limits of namespaces that it
// needs, on a thread of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/kube/access.h"
#include "common/kube/list_watch.h"
#include "extender/admission/cert_rotator.h"
#include "extender/admission/kube_certificates.h"
#include "extender/admission/limits.h"
#include "extender/admission/webhook.h"
#include "extender/http/server.h"

namespace crossover::extender::admission {

// Admission owns the webhook and the thread that serves it.
class Admission {
 public:
  struct Settings {
    kube::Access access;
    Webhook::Settings webhook;
    // If another program, such as cert-manager, keeps the certificate, `listen` names its files. If they
    // are empty, this replica keeps a certificate of its own.
    HttpServer::Settings listen;
    KubeCertificates::Names names;
    CertRotator::Settings cert_rotator;  // used for a certificate of its own: the listener serves `file`
  };

  // Starts the thread. `leads` says whether this replica writes to the API server; any thread may call it.
  // `count` may be null; it must outlive this object.
  Admission(Settings settings, std::function<bool()> leads, Count* count);
  ~Admission();

  // Returns whether it listens, has a certificate and knows the limits of namespaces.
  bool ready() const;
  // Makes each answer from now on end its connection. Thread-safe.
  void Drain() { *drains_ = true; }
  // Returns when the served certificate expires, in seconds since 1970, or 0 while there is none.
  std::int64_t certificate_until_s() const { return certificate_until_s_; }

 private:
  void Run();
  void Listen();

  Settings settings_;
  const std::function<bool()> leads_;
  Limits limits_;
  const Webhook webhook_;
  KubeCertificates objects_;
  std::optional<CertRotator> cert_rotator_;  // empty if another program keeps the certificate
  std::unique_ptr<HttpServer> server_;       // used by thread_ alone, like cert_rotator_
  std::string complaint_;
  std::atomic<bool> listens_{false};
  const std::shared_ptr<std::atomic<bool>> drains_ = std::make_shared<std::atomic<bool>>(false);
  std::atomic<std::int64_t> certificate_until_s_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  kube::ListWatch quota_watch_, range_watch_;
  std::thread thread_;  // last: uses the members above
};

}  // namespace crossover::extender::admission
