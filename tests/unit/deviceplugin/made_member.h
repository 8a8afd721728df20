// Makes a client of a GPU as the arbiter tells of one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "deviceplugin/arbiter/observer.h"

namespace crossover::arbiter {

// Returns a client of a GPU without a page.
inline std::shared_ptr<Member> MadeMember(std::uint64_t id, const std::string& gang,
                                          const std::string& uuid) {
  auto gpu = std::make_shared<GpuInfo>();
  gpu->uuid = uuid;
  auto member = std::make_shared<Member>();
  member->id = id;
  member->gpu = gpu;
  member->gang = gang;
  return member;
}

}  // namespace crossover::arbiter
