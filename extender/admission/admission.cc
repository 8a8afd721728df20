#include "extender/admission/admission.h"

#include <chrono>
#include <exception>
#include <utility>

#include "common/logging/log.h"

namespace crossover::extender::admission {
namespace {

constexpr std::chrono::seconds kBetweenLooks{2};

template <class Clock>
std::int64_t Seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

Admission::Admission(Settings settings, std::function<bool()> leads, Count* count)
    : settings_(std::move(settings)),
      leads_(std::move(leads)),
      webhook_(
          settings_.webhook, [this](const std::string& space) { return limits_.In(space); }, count),
      objects_(settings_.access, settings_.names),
      quota_watch_(settings_.access, "/api/v1/resourcequotas", limits_.quotas()),
      range_watch_(settings_.access, "/api/v1/limitranges", limits_.ranges()) {
  if (settings_.listen.certificate_file.empty()) {
    cert_rotator_.emplace(settings_.cert_rotator, &objects_);
    settings_.listen.certificate_file = settings_.cert_rotator.file;
    settings_.listen.key_file = settings_.cert_rotator.file;
  }
  settings_.listen.drains = drains_;
  thread_ = std::thread([this] { Run(); });
}

Admission::~Admission() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  objects_.Stop();
  thread_.join();
}

// Without a certificate the listener closes every connection. This returns false then, so a rollout
// does not replace working replicas with it.
bool Admission::ready() const { return listens_ && certificate_until_s_ > 0 && limits_.In("").has_value(); }

// Opens the listener. Run() calls this again until it succeeds, so the same failure is logged once.
void Admission::Listen() try {
  server_ = std::make_unique<HttpServer>(
      settings_.listen, std::map<std::string, HttpServer::Handler>{{Webhook::kPath, webhook_.handler()}});
  listens_ = true;
  logging::Info("webhook: listens on " + settings_.listen.address + ":" +
                std::to_string(settings_.listen.port));
} catch (const std::exception& failure) {
  if (complaint_ != failure.what()) logging::Warn(std::string("webhook: ") + failure.what());
  complaint_ = failure.what();
}

void Admission::Run() {
  for (;;) {
    if (cert_rotator_) {
      cert_rotator_->Look({Seconds<std::chrono::system_clock>(), Seconds<std::chrono::steady_clock>()},
                          leads_());
    }
    if (!server_ && (!cert_rotator_ || cert_rotator_->ready())) Listen();
    if (server_) certificate_until_s_ = server_->certificate_until_s();
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, kBetweenLooks, [this] { return stop_; })) break;
  }
  server_.reset();
}

}  // namespace crossover::extender::admission
