// What sharing a GPU costs and gains, from what the books say of it. Pure.
//
// Of each job i: its step alone s_i, its step t_i in its present company, its compute c_i. From these
//
//   communication  m_i = s_i - c_i                            exposed: what compute does not hide
//   slowdown       t_i / s_i
//   gain           sum s_i / t_i                              work per time, against one job after the other
//   eta            max(sum c_i / t_i, max s_i / t_i)          against the best that turns can reach
//   busy           min(1, sum c_i / t_i)                      of the time, the GPU computes
//
// Where each job ends one iteration in a cycle, all t_i are the cycle T, and these are `gain` and
// `cycle_bound` of benchmarks/bounds.py: sum(c_i + m_i) / T, and T* / T with T* = max(sum c_i, max(c_i +
// m_i)). Elsewhere eta is the same of rates: all jobs together could run 1 / eta times as fast as they do and
// no faster, for then the GPU is full or a job has its own speed. What collectives take of the GPU while they
// spin, and what the links take, is not known here: the true bound may be higher, and then eta is too low.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/books/views.h"

namespace crossover::deviceplugin {

// Measured: of iterations and turns that were clocked, also in an earlier process of the job. Estimated: a
// part of it is inferred, from turns and the gaps between them.
struct Sourced {
  double value = 0;
  bool estimated = false;
};

struct ClientFigures {
  const ClientView* client = nullptr;
  std::string peers;  // gangs of the other clients of its GPU, in order of their names, with commas
  std::optional<double> step_shared_s;
  std::optional<Sourced> step_alone_s;
  std::optional<double> step_alone_age_s;
  std::optional<double> compute_s;
  std::optional<Sourced> communication_s;
  std::optional<Sourced> exposed_ratio;  // communication over both
  std::optional<Sourced> slowdown;
};

struct GpuFigures {
  std::vector<ClientFigures> clients;  // they refer to the view's
  std::optional<Sourced> gain;
  std::optional<double> gain_error;      // standard error, as a part of it
  std::optional<double> gain_uncertain;  // 1: it says little; else 0
  std::optional<Sourced> eta;
  std::optional<double> busy;
};

// `view` is to outlive it.
GpuFigures FiguresOf(const GpuView& view);

}  // namespace crossover::deviceplugin
