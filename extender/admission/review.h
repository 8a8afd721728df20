// Reads the AdmissionReview (admission.k8s.io/v1) that the API server sends, and writes the answer. Pure;
// no function here throws, whatever the bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crossover::extender::admission {

// A Review is one question of the API server.
struct Review {
  std::string uid;        // of the review, never empty
  std::string operation;  // CREATE, UPDATE, ..
  std::string resource;   // pods, ..
  std::string name_space;
  std::string user;  // the user that makes the request
  bool dry_run = false;
  nlohmann::json object;
  nlohmann::json old_object;  // null except for UPDATE and DELETE
};

// A Verdict is the answer to a Review.
struct Verdict {
  bool allowed = true;
  std::string refusal;  // shown to the user that made the request; empty if it is allowed
  int code = 403;       // HTTP status of the refusal
  nlohmann::json patch = nlohmann::json::array();  // JSON patch; empty: none
  std::vector<std::string> warnings;
};

// ParseReview refuses a review of more bytes, or with values nested deeper, than these limits.
inline constexpr std::size_t kMostBytes = 8u << 20;
inline constexpr int kDeepest = 100;
// API servers cut warnings that are longer than this many bytes.
inline constexpr std::size_t kLongestWarning = 120;

// Returns the review in `body`, or a text that says what is wrong with it.
std::variant<Review, std::string> ParseReview(std::string_view body);

// Returns the body of the HTTP answer. It has both patch and patchType or neither; a refusal has neither.
std::string AnswerTo(const std::string& uid, const Verdict& verdict);

}  // namespace crossover::extender::admission
