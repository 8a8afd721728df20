// Keeps the profiles of jobs that have left, in memory and in a directory. There is one file per profile;
// all files are read at the start.
//
// A file is replaced as a whole, so a daemon that is killed while it writes leaves the old file. A file that
// cannot be read is renamed for later inspection: it neither stops the daemon nor is lost.
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

// ProfileStore is thread-safe. Put writes the file on the caller's thread; All and Find never wait for that.
class ProfileStore : public arbiter::ProfileSource {
 public:
  // Beyond this number, the oldest profiles of the user with the most profiles are dropped.
  static constexpr std::size_t kMost = 4096;

  // Creates `directory` if missing, and reads the profiles in it. Returns null, with the reason in `error`,
  // if the directory cannot be created or written, or if it is not the daemon's own or other users may write
  // to it. A failing disk is no error: the store then keeps profiles in memory, and Put() tries to write each
  // new one.
  static std::unique_ptr<ProfileStore> Open(const std::string& directory, std::string* error,
                                            std::size_t most = kMost);

  const std::string& directory() const { return directory_; }
  std::vector<JobProfile> All() const;  // by gang, user and size
  // Replaces the profile of the same job, and writes it. Logs the first of several failures in a row.
  void Put(const JobProfile& profile);
  std::optional<turn::Demand> Find(const std::string& gang, std::uint32_t uid,
                                   std::uint32_t size) const override;
  std::uint64_t write_failures() const { return write_failures_; }

 private:
  ProfileStore(std::string directory, std::size_t most) : directory_(std::move(directory)), most_(most) {}

  void ReadAll();
  void ReadOne(const std::string& file);
  void SetAside(const std::string& path);
  std::vector<JobKey> TakeSurplus();  // REQUIRES: mutex_ is held
  void RemoveFiles(const std::vector<JobKey>& jobs) const;
  int Write(const std::string& file, const std::string& text, std::string* error) const;  // 0, or an errno

  const std::string directory_;
  const std::size_t most_;
  mutable std::mutex mutex_;  // guards profiles_; never held during I/O
  std::map<JobKey, JobProfile> profiles_;
  std::mutex files_mutex_;
  std::atomic<std::uint64_t> write_failures_{0};
  bool complained_ = false;  // guarded by files_mutex_
};

}  // namespace crossover::deviceplugin
