// The webhook as a part of a running extender: its listener, its certificate, and the quotas that it heeds,
// on a thread of its own.
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
#include "extender/admission/keeper.h"
#include "extender/admission/kube_certificates.h"
#include "extender/admission/quotas.h"
#include "extender/admission/webhook.h"
#include "extender/http/server.h"

namespace crossover::extender::admission {

class Admission {
 public:
  struct Settings {
    kube::Access access;
    Webhook::Settings webhook;
    HttpServer::Settings listen;  // its certificate files are those of somebody else; empty: it keeps its own
    KubeCertificates::Names names;
    Keeper::Settings keeper;  // for its own: `file` is what is served
  };

  // `leads`: whether this replica writes; from any thread. `count` may be null, and outlives it.
  Admission(Settings settings, std::function<bool()> leads, Count* count);
  ~Admission();

  // It listens, with a certificate, and knows the quotas.
  bool ready() const;
  // From here on each answer ends its connection. From any thread.
  void Drain() { *drains_ = true; }
  // When the certificate that it serves ends, since 1970; 0: there is none yet.
  std::int64_t certificate_until_s() const { return certificate_until_s_; }

 private:
  void Run();
  void Listen();

  Settings settings_;
  const std::function<bool()> leads_;
  Quotas quotas_;
  const Webhook webhook_;
  KubeCertificates objects_;
  std::optional<Keeper> keeper_;        // none where others keep the certificate
  std::unique_ptr<HttpServer> server_;  // of the thread alone, as keeper_ is
  std::string complaint_;
  std::atomic<bool> listens_{false};
  const std::shared_ptr<std::atomic<bool>> drains_ = std::make_shared<std::atomic<bool>>(false);
  std::atomic<std::int64_t> certificate_until_s_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  kube::ListWatch quota_watch_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace crossover::extender::admission
