// Puts the profile of each job into the store when its last client on this machine leaves. A daemon that
// stops sees all of its clients leave.
#pragma once

#include <cstdint>

#include "deviceplugin/books/books.h"
#include "deviceplugin/profiles/store.h"

namespace crossover::deviceplugin {

class ProfileKeeper : public Sink {
 public:
  // Both outlive it. `books` learns from `store` what there is, and is told of events before this.
  ProfileKeeper(Books* books, ProfileStore* store);

  void OnEvent(const arbiter::Event& event) override;
  void OnStats(const arbiter::GpuInfo&, const turn::Stats&) override {}
  void OnDropped(std::uint64_t) override {}

 private:
  Books* books_;
  ProfileStore* store_;
};

}  // namespace crossover::deviceplugin
