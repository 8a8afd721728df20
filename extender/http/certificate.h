// A certificate and its key as they lie in files, which somebody renews while they are in use. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "common/files/stamp.h"

namespace crossover::extender {

class Certificate {
 public:
  // What belongs together, in PEM.
  struct Pair {
    std::string chain, key;
    std::int64_t until_s = 0;  // since 1970: the first of the chain ends then
  };

  Certificate(std::string chain_file, std::string key_file)
      : chain_file_(std::move(chain_file)), key_file_(std::move(key_file)) {}

  // As the files are now; where these cannot be read or do not fit together, as they were when they last did,
  // and that is said once. Null: they never did.
  std::shared_ptr<const Pair> Current();

 private:
  const std::string chain_file_, key_file_;
  std::mutex mutex_;
  files::Stamp chain_stamp_, key_stamp_;
  bool good_ = false;  // as it was last read
  std::string complaint_;
  std::shared_ptr<const Pair> pair_;
};

}  // namespace crossover::extender
