// Answers the API server's admission reviews of pods over HTTP. Thread-safe. It keeps no state: a dry run
// is answered like any other review, but its outcome is not counted.
#pragma once

#include <set>
#include <string>

#include "extender/admission/rewrite.h"
#include "extender/http/server.h"

namespace crossover::extender::admission {

// Count receives the webhook's metrics. Any thread calls it; it must not block.
class Count {
 public:
  virtual ~Count() = default;
  virtual void Add(Outcome outcome) = 0;
  virtual void Took(double seconds) = 0;  // spent on one review
};

class Webhook {
 public:
  struct Settings {
    RewriteSettings rewrite;
    std::set<std::string> writers;  // users that may change our annotations, such as service accounts
  };

  static constexpr char kPath[] = "/admit/pods";

  // `count` may be null; it must outlive this object.
  Webhook(Settings settings, LimitsLookup limits, Count* count);

  // Returns the HTTP answer to a review. Returns status 400 and what is wrong for a body that is not a
  // review. Never throws.
  HttpAnswer Answer(const std::string& body) const noexcept;

  // Returns a handler that answers POST at once and all other methods with 405.
  HttpServer::Handler handler() const;

 private:
  Decision Decide(const Review& review) const;
  void Add(Outcome outcome) const;

  const Settings settings_;
  const LimitsLookup limits_;
  Count* const count_;
};

}  // namespace crossover::extender::admission
