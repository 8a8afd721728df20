// Answers the API server's questions about pods, over HTTP. Thread-safe. It keeps nothing: a dry run has no
// effect that others do not have, and it is not counted.
#pragma once

#include <set>
#include <string>

#include "extender/admission/rewrite.h"
#include "extender/http/server.h"

namespace crossover::extender::admission {

// For metrics. Called from any thread; not to wait.
class Count {
 public:
  virtual ~Count() = default;
  virtual void Add(Outcome outcome) = 0;
  virtual void Took(double seconds) = 0;  // to answer a review
};

class Webhook {
 public:
  struct Settings {
    RewriteSettings rewrite;
    std::set<std::string> writers;  // users who may change annotations of ours, such as service accounts
  };

  static constexpr char kPath[] = "/admit/pods";

  // `count` may be null, and outlives it.
  Webhook(Settings settings, QuotaLookup quotas, Count* count);

  // Never throws. 400, with what is wrong, for a body that is no review.
  HttpAnswer Answer(const std::string& body) const noexcept;

  // Answers POST at once; 405 for all else.
  HttpServer::Handler handler() const;

 private:
  Decision Decide(const Review& review) const;
  void Add(Outcome outcome) const;

  const Settings settings_;
  const QuotaLookup quotas_;
  Count* const count_;
};

}  // namespace crossover::extender::admission
