// Converts snapshots of StatsStore to messages of the API. Pure.
#pragma once

#include <string>
#include <vector>

#include "deviceplugin/arbiter/mode_rule.h"
#include "deviceplugin/signals/figures.h"
#include "deviceplugin/stats/snapshots.h"
#include "proto/crossover_node.pb.h"

namespace crossover::deviceplugin {

// These functions fill a message. `held` says why the GPU is held, and is empty if it is not. `in_force` is
// the daemon's mode.
void Fill(const GpuView& view, const std::string& held, arbiter::Policy in_force, node::v1::Gpu* gpu);
void Fill(const signals::Figures& figures, node::v1::Signals* signals);
void Fill(const ClientView& view, node::v1::Client* client);
void Fill(const TurnView& view, node::v1::Turn* turn);
void Fill(const arbiter::Event& event, node::v1::TurnEvent* message);

// Groups the clients by gang and user.
void FillJobs(const std::vector<GpuView>& views, node::v1::Top* top);

}  // namespace crossover::deviceplugin
