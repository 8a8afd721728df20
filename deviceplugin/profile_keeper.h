// Puts the profile of a job into the store when the job's last client on this machine leaves. When the
// daemon stops, all of its clients leave.
#pragma once

#include <cstdint>

#include "deviceplugin/books/books.h"
#include "deviceplugin/profiles/store.h"

namespace crossover::deviceplugin {

class ProfileKeeper : public Sink {
 public:
  // Loads the profiles of `store` into `books`. REQUIRES: both outlive the keeper, and `books` gets each
  // event before the keeper does.
  ProfileKeeper(Books* books, ProfileStore* store);

  void OnEvent(const arbiter::Event& event) override;
  void OnStats(const arbiter::GpuInfo&, const turn::Stats&) override {}
  void OnDropped(std::uint64_t) override {}

 private:
  Books* books_;
  ProfileStore* store_;
};

}  // namespace crossover::deviceplugin
