#include "examples/trainer/log.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace crossover::trainer {
namespace {

[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

}  // namespace

std::int64_t Median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double LinkSeconds(std::uint32_t world, std::uint64_t bytes, double bytes_per_s) {
  return 2.0 * (world - 1) / world * static_cast<double>(bytes) / bytes_per_s;
}

std::string IterationLine(std::uint32_t rank, const IterationRecord& record, float loss) {
  return Format("{\"rank\":%u,\"iteration\":%" PRIu64 ",\"begin_ns\":%" PRId64 ",\"end_ns\":%" PRId64
                ",\"compute_ns\":%" PRId64 ",\"loss\":\"%a\"}\n",
                rank, record.iteration, record.begin_ns, record.end_ns, record.compute_ns,
                static_cast<double>(loss));
}

std::string EvaluationLine(std::uint32_t rank, const EvaluationRecord& record) {
  return Format("{\"rank\":%u,\"evaluation\":{\"after_iteration\":%" PRIu64
                ",\"loss\":%.6f,\"accuracy\":%.6f}}\n",
                rank, record.after_iteration, record.loss, record.accuracy);
}

std::string SummaryLine(std::uint32_t rank, const Summary& s) {
  std::string line =
      Format("{\"rank\":%u,\"summary\":{\"variant\":\"%s\",\"stream\":\"%s\",\"iterations\":%" PRIu64
             ",\"interrupted\":%s,\"median_step_ns\":%" PRId64 ",\"median_compute_ns\":%" PRId64
             ",\"kernels_per_iteration\":%u,\"gradient_bytes\":%" PRIu64 ",\"early_bytes\":%" PRIu64,
             rank, s.variant.c_str(), s.stream.c_str(), s.iterations, s.interrupted ? "true" : "false",
             s.median_step_ns, s.median_compute_ns, s.kernels_per_iteration, s.gradient_bytes, s.early_bytes);
  if (s.link_ns >= 0) line += Format(",\"link_ns\":%" PRId64, s.link_ns);
  if (!s.reduction.empty()) line += Format(",\"reduction\":\"%s\"", s.reduction.c_str());
  if (!s.shares.empty()) {
    line += ",\"shares\":[";
    for (const ShareChange& change : s.shares) {
      line += Format("%s{\"iteration\":%" PRIu64 ",\"images\":%u}", line.back() == '[' ? "" : ",",
                     change.iteration, change.images);
    }
    line += "]";
  }
  return line + Format(",\"losses_digest\":\"%016" PRIx64 "\",\"parameters_digest\":\"%016" PRIx64
                       "\",\"accuracy\":%.6f,\"kernels\":\"%s\"}}\n",
                       s.losses_digest, s.parameters_digest, s.accuracy, s.kernels.c_str());
}

std::string LogPath(std::string path, std::uint32_t rank) {
  const std::string placeholder = "{rank}";
  for (auto at = path.find(placeholder); at != std::string::npos; at = path.find(placeholder)) {
    path.replace(at, placeholder.size(), std::to_string(rank));
  }
  return path;
}

}  // namespace crossover::trainer
