// Names what the extender uses of a job's communication, which common/api reads.
#pragma once

#include <map>
#include <string>

#include "common/api/communication.h"

namespace crossover::extender {

using api::CallGroup;
using api::Communication;
using api::FunctionNamed;
using api::HasRoot;
using api::IsBetweenTwo;
using api::kMostCallBytes;
using api::kMostCallGroups;
using api::kMostMembers;
using api::NcclCall;
using api::NcclFunction;

// GpuSpeeds have the speed of each model of GPUs, relative to a model whose speed is 1.
using GpuSpeeds = std::map<std::string, double>;

// Pods are placed by a Communication once this many runs agree.
inline constexpr int kRunsThatAgree = 2;

}  // namespace crossover::extender
