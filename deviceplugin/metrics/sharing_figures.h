// Computes what sharing a GPU costs and gains, from a GpuView of StatsStore. Pure.
//
// Each job i has its step alone s_i, its step t_i in its present company, and its compute c_i. From these
// follow
//
//   input wait     i_i                                        its host launches nothing, as its process says;
//                                                             0 where it does not say it
//   communication  m_i = s_i - c_i - i_i                      exposed: compute does not hide it
//   slowdown       t_i / s_i
//   gain           sum s_i / t_i                              work per time; one job after the other has 1
//   eta            max(sum c_i / t_i, max s_i / t_i)          relative to the best that turns can reach
//   busy           min(1, sum c_i / t_i)                      part of the time in which the GPU computes
//
// If each job ends one iteration per cycle, all t_i are the cycle T. Then gain and eta are `gain` and
// `cycle_bound` of testing/bounds.py: sum(s_i) / T, and T* / T with T* = max(sum c_i, max s_i): a wait for
// input is off the GPU as communication is. In other cases eta means the same for rates: all jobs together
// could run 1 / eta times as fast as they do, but no faster, because then the GPU is full or a job has
// reached its speed alone. These formulas do not know how much of the GPU spinning collectives take, nor how
// much the links take. If these take much, the true bound T* is higher, and eta is too low.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/stats/snapshots.h"

namespace crossover::deviceplugin {

// A Sourced is a figure and how it is known. A measured figure comes from iterations and turns that were
// timed, also in an earlier process of the job. A part of an estimated figure is inferred from turns and the
// gaps between them.
struct Sourced {
  double value = 0;
  bool estimated = false;
};

struct ClientFigures {
  const ClientView* client = nullptr;
  std::string peers;  // gangs of the other clients of its GPU, sorted, with commas
  std::optional<double> step_shared_s;
  std::optional<Sourced> step_alone_s;
  std::optional<double> step_alone_age_s;
  std::optional<double> compute_s;
  std::optional<double> input_wait_s;
  std::optional<Sourced> communication_s;
  std::optional<Sourced>
      exposed_ratio;  // communication over the sum of compute, communication and input wait
  std::optional<Sourced> slowdown;
};

struct GpuFigures {
  std::vector<ClientFigures> clients;  // the figures refer to clients of the GpuView
  std::optional<Sourced> gain;
  std::optional<double> gain_error;      // standard error, relative to `gain`
  std::optional<double> gain_uncertain;  // 1: the gain says little; else 0
  std::optional<Sourced> eta;
  std::optional<double> busy;
};

// Computes the figures of a GPU. REQUIRES: `view` outlives the result.
GpuFigures FiguresOf(const GpuView& view);

}  // namespace crossover::deviceplugin
