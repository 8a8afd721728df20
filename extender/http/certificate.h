// Reads a certificate and its key from files that another program renews while they are in use.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "common/files/file_id.h"

namespace crossover::extender {

class Certificate {
 public:
  // A Pair is a certificate chain and its key, in PEM.
  struct Pair {
    std::string chain, key;
    std::int64_t until_s = 0;  // when the first certificate of the chain expires, in seconds since 1970
  };

  Certificate(std::string chain_file, std::string key_file)
      : chain_file_(std::move(chain_file)), key_file_(std::move(key_file)) {}

  // Returns the pair that the files hold now. If they cannot be read or do not belong together, returns the
  // last pair that did, and logs the fault once. Returns null if there never was one.
  std::shared_ptr<const Pair> Current();

 private:
  const std::string chain_file_, key_file_;
  std::mutex mutex_;
  files::FileId chain_id_, key_id_;
  bool good_ = false;  // the last read found a pair
  std::string complaint_;
  std::shared_ptr<const Pair> pair_;
};

}  // namespace crossover::extender
