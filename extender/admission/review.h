// AdmissionReview of admission.k8s.io/v1: what the API server asks, and what it is answered. Pure; nothing of
// it throws, whatever the bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crossover::extender::admission {

struct Review {
  std::string uid;        // of the question; never empty
  std::string operation;  // CREATE, UPDATE, ..
  std::string resource;   // pods, ..
  std::string name_space;
  std::string user;  // who wants it
  bool dry_run = false;
  nlohmann::json object;
  nlohmann::json old_object;  // null but for UPDATE and DELETE
};

struct Verdict {
  bool allowed = true;
  std::string refusal;                             // for whoever made the object; empty where it is allowed
  int code = 403;                                  // of the refusal
  nlohmann::json patch = nlohmann::json::array();  // JSON patch; empty: none
  std::vector<std::string> warnings;
};

// Reviews of more bytes, and values inside of more values than these, are refused.
inline constexpr std::size_t kMostBytes = 8u << 20;
inline constexpr int kDeepest = 100;
// API servers cut longer warnings.
inline constexpr std::size_t kLongestWarning = 120;

// The text says what is wrong with it.
std::variant<Review, std::string> ParseReview(std::string_view body);

// The body of the answer. Patch and patchType come together or not at all; a refusal has neither.
std::string AnswerTo(const std::string& uid, const Verdict& verdict);

}  // namespace crossover::extender::admission
