// Profiles of jobs that have left, in memory and in a directory: one file for each, read whole at the start.
//
// A file is replaced as a whole, so that a daemon killed in the middle leaves the old one. One that cannot be
// read is set aside for whoever wants to look at it: it neither stops the daemon nor gets lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/arbiter/profile_source.h"
#include "deviceplugin/profiles/job_profile.h"

namespace crossover::deviceplugin {

// Thread-safe. Files are written by whoever calls Put, which nobody else waits for.
class ProfileStore : public arbiter::ProfileSource {
 public:
  // The oldest go first, of the user who has most.
  static constexpr std::size_t kMost = 4096;

  // Makes `directory` where it is not there. Null (after saying why in `error`) where it cannot be made or
  // written, or where others than its owner may write it. A disk that fails is no reason: what is learned is
  // kept in memory, and written as soon as it can be.
  static std::unique_ptr<ProfileStore> Open(const std::string& directory, std::string* error,
                                            std::size_t most = kMost);

  const std::string& directory() const { return directory_; }
  std::vector<JobProfile> All() const;  // by gang, user and size
  // In place of what was known of the same job.
  void Put(const JobProfile& profile);
  std::optional<turn::Demand> Find(const std::string& gang, std::uint32_t uid,
                                   std::uint32_t size) const override;
  std::uint64_t write_failures() const { return write_failures_; }

 private:
  ProfileStore(std::string directory, std::size_t most) : directory_(std::move(directory)), most_(most) {}

  void ReadAll();
  void ReadOne(const std::string& file);
  void SetAside(const std::string& path);
  std::vector<JobKey> TakeSurplus();  // with mutex_ held
  void RemoveFiles(const std::vector<JobKey>& jobs) const;
  int Write(const std::string& file, const std::string& text, std::string* error) const;  // 0, or an errno

  const std::string directory_;
  const std::size_t most_;
  mutable std::mutex mutex_;  // over profiles_; never held during I/O
  std::map<JobKey, JobProfile> profiles_;
  std::mutex files_mutex_;
  std::atomic<std::uint64_t> write_failures_{0};
  bool complained_ = false;  // under files_mutex_
};

}  // namespace crossover::deviceplugin
