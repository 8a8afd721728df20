// Ends a rank with one line for the user and an exit code. It is thrown, and Main() catches it.
#pragma once

#include <stdexcept>
#include <string>

namespace crossover::trainer {

class Failure : public std::runtime_error {
 public:
  // Code 1 means that something broke. Code 2 means that a flag, the environment or the data is wrong.
  explicit Failure(const std::string& text, int code = 1) : std::runtime_error(text), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

// A RankLost says that another rank has left.
class RankLost : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace crossover::trainer
