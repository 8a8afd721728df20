// From what the books say to what goes over the wire. Pure.
#pragma once

#include "deviceplugin/books/views.h"
#include "proto/crossover_node.pb.h"

namespace crossover::deviceplugin {

void Fill(const GpuView& view, node::v1::Gpu* gpu);
void Fill(const ClientView& view, node::v1::Client* client);
void Fill(const TurnView& view, node::v1::Turn* turn);
void Fill(const arbiter::Event& event, node::v1::TurnEvent* message);

// Clients grouped by gang and user.
void FillJobs(const std::vector<GpuView>& views, node::v1::ListJobsResponse* response);

}  // namespace crossover::deviceplugin
