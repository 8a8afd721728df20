#include "cli/pipeline/report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/render/table.h"

namespace crossover::cli {
namespace {

using nlohmann::json;
using pipeline::kNever;
using pipeline::Time;

double Ms(Time time) { return static_cast<double>(time) / 1e6; }

const char* NameOf(pipeline::Kind kind) {
  switch (kind) {
    case pipeline::Kind::kOneForwardOneBackward:
      return "1f1b";
    case pipeline::Kind::kInterleaved:
      return "interleaved";
    case pipeline::Kind::kGPipe:
      return "gpipe";
  }
  return "";
}

json MsOrNull(Time time) { return time == kNever ? json() : json(Ms(time)); }

// Sums up what one chunk has.
struct Chunk {
  std::size_t begin = 0, end = 0;  // blocks
  int device = 0;
  Time forward = 0, backward = 0;
};

std::vector<Chunk> ChunksOf(const PipelinePlan& plan) {
  const pipeline::Problem& problem = plan.mapping.problem;
  const std::vector<std::size_t>& borders = plan.mapping.division.borders;
  const pipeline::Costs costs = CostsOf(problem, borders);
  std::vector<Chunk> chunks;
  for (std::size_t c = 0; c + 1 < borders.size(); ++c) {
    chunks.push_back({borders[c], borders[c + 1], problem.shape().device_of(static_cast<int>(c)),
                      costs.forward[c], costs.backward[c]});
  }
  return chunks;
}

// Returns the part of the devices' time in which they compute.
double BusyPart(const PipelinePlan& plan) {
  double busy = 0;
  for (const pipeline::Span& span : plan.spans) busy += Ms(span.end - span.begin);
  const auto devices = static_cast<double>(plan.mapping.problem.devices.size());
  const double all = Ms(plan.mapping.division.time) * devices;
  return all > 0 ? busy / all : 0;
}

std::string SeatName(const pipeline::Seat& seat) { return seat.server + "/" + std::to_string(seat.gpu); }

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Box(const pipeline::Span& span, double per_ms, int row) {
  constexpr int kHeight = 26, kTop = 24, kLeft = 110;
  const pipeline::Operation& operation = span.operation;
  const char* half = operation.half == pipeline::Half::kFirst    ? "a"
                     : operation.half == pipeline::Half::kSecond ? "b"
                                                                 : "";
  const double x = kLeft + Ms(span.begin) * per_ms, width = Ms(span.end - span.begin) * per_ms;
  const int y = kTop + row * (kHeight + 6);
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(),
                "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" class=\"%s\"><title>stage %d, %s of "
                "micro-batch %d%s: %.3f to %.3f ms</title></rect>\n",
                x, y, width, kHeight, operation.forward ? "f" : "b", operation.chunk,
                operation.forward ? "forward" : "backward", operation.microbatch, half, Ms(span.begin),
                Ms(span.end));
  std::string box = text.data();
  if (width >= 14) {
    std::snprintf(text.data(), text.size(), "<text x=\"%.2f\" y=\"%d\">%d%s</text>\n", x + 3, y + 17,
                  operation.microbatch, half);
    box += text.data();
  }
  return box;
}

}  // namespace

json PipelineJson(const PipelinePlan& plan) {
  const pipeline::Problem& problem = plan.mapping.problem;
  json stages = json::array(), compared = json::object();
  for (const Chunk& chunk : ChunksOf(plan)) {
    const pipeline::Seat& seat = plan.mapping.seats[static_cast<std::size_t>(chunk.device)];
    stages.push_back({{"first_block", problem.blocks[chunk.begin].name},
                      {"last_block", problem.blocks[chunk.end - 1].name},
                      {"begin", chunk.begin},
                      {"end", chunk.end},
                      {"server", seat.server},
                      {"gpu", seat.gpu},
                      {"forward_ms", Ms(chunk.forward)},
                      {"backward_ms", Ms(chunk.backward)}});
  }
  for (const Compared& other : plan.others) compared[other.name] = {{"iteration_ms", MsOrNull(other.time)}};
  return {{"iteration_ms", Ms(plan.mapping.division.time)},
          {"busy_part", BusyPart(plan)},
          {"schedule", NameOf(problem.kind)},
          {"microbatches", problem.microbatches},
          {"sliced_microbatches", plan.mapping.division.sliced},
          {"slice_cost", problem.slice_cost},
          {"stages", std::move(stages)},
          {"compared", std::move(compared)}};
}

std::string PipelineTable(const PipelinePlan& plan) {
  const pipeline::Problem& problem = plan.mapping.problem;
  std::vector<std::vector<std::string>> rows = {
      {"STAGE", "GPU", "BLOCKS", "FIRST", "LAST", "FORWARD", "BACKWARD"}};
  std::size_t number = 0;
  for (const Chunk& chunk : ChunksOf(plan)) {
    const pipeline::Seat& seat = plan.mapping.seats[static_cast<std::size_t>(chunk.device)];
    rows.push_back({std::to_string(number++), SeatName(seat), std::to_string(chunk.end - chunk.begin),
                    problem.blocks[chunk.begin].name, problem.blocks[chunk.end - 1].name,
                    Number(Ms(chunk.forward), 3) + " ms", Number(Ms(chunk.backward), 3) + " ms"});
  }
  std::string text = Columns(rows);
  text += "\niteration: " + Number(Ms(plan.mapping.division.time), 3) + " ms, " +
          Number(100 * BusyPart(plan), 1) + "% of the devices' time is spent on compute; " +
          std::to_string(plan.mapping.division.sliced) + " of " + std::to_string(problem.microbatches) +
          " micro-batches have halved forward passes\n";
  std::vector<std::vector<std::string>> others = {{"COMPARED", "ITERATION", "BY THE PLAN'S"}};
  for (const Compared& other : plan.others) {
    const bool known = other.time != kNever;
    others.push_back({other.name, NumberOr(known, Ms(other.time), 3, " ms"),
                      NumberOr(known && plan.mapping.division.time > 0,
                               Ms(other.time) / Ms(plan.mapping.division.time), 3)});
  }
  return text + "\n" + Columns(others);
}

std::string PipelinePicture(const PipelinePlan& plan) {
  constexpr double kWidth = 1400;
  const double per_ms = kWidth / std::max(Ms(plan.mapping.division.time), 1e-9);
  const auto devices = static_cast<int>(plan.mapping.seats.size());
  std::string page =
      "<!doctype html>\n<meta charset=\"utf-8\"><title>Pipeline</title>\n<style>\nbody{font:13px sans-serif}"
      "rect.f{fill:#9ecae1;stroke:#fff}rect.b{fill:#fdae6b;stroke:#fff}text{font-size:11px}</style>\n"
      "<p>An iteration of " +
      Number(Ms(plan.mapping.division.time), 3) +
      " ms. Blue is forward, orange is backward; the number is that of the micro-batch.</p>\n<svg "
      "width=\"1540\" height=\"" +
      std::to_string(devices * 32 + 40) + "\">\n";
  for (int device = 0; device < devices; ++device) {
    page += "<text x=\"4\" y=\"" + std::to_string(24 + device * 32 + 17) + "\">" +
            Escaped(SeatName(plan.mapping.seats[static_cast<std::size_t>(device)])) + "</text>\n";
  }
  for (const pipeline::Span& span : plan.spans) page += Box(span, per_ms, span.device);
  return page + "</svg>\n";
}

}  // namespace crossover::cli
