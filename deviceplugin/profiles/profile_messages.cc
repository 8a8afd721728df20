#include "deviceplugin/profiles/profile_messages.h"

#include <google/protobuf/util/json_util.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <type_traits>

#include "common/base/hash.h"
#include "common/base/refusal.h"
#include "common/text/list.h"
#include "deviceplugin/arbiter/client_messages.h"
#include "proto/crossover_node.pb.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::array<const char*, 6> kSources = {"measured", "remembered", "estimated",
                                                 "turns",    "nvml",       "refused"};
constexpr double kLongestMs = 86'400'000;  // one day
constexpr double kMostBytes = 1ULL << 50;
constexpr double kLastSecond = 7'000'000'000;  // in 2191
constexpr double kNsPerMs = 1e6;
constexpr double kUsPerSecond = 1e6;  // instants are whole microseconds: a double can hold these

// A Fault says what is wrong with a file. ParseProfile() catches it.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

double WallSeconds(turn::Time at, const Clocks& now) {
  const turn::Time us = (now.wall - now.monotonic + at) / base::kNsPerUs;
  return static_cast<double>(us) / kUsPerSecond;
}

template <class T>
void FillFigure(const std::optional<Measurement<T>>& figure, double unit, const Clocks& now,
                node::v1::Figure* (node::v1::JobProfile::*field)(), node::v1::JobProfile* message) {
  if (!figure) return;
  node::v1::Figure* out = (message->*field)();
  out->set_value(static_cast<double>(figure->value) / unit);
  out->set_source(kSources[static_cast<std::size_t>(figure->source)]);
  out->set_learned_at_s(WallSeconds(figure->at, now));
  if (figure->error > 0) out->set_error(figure->error);
}

std::string Printed(double value) {
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%.10g", value);
  return text.data();
}

[[noreturn]] void Reject(const std::string& key, const std::string& value, const std::string& expected) {
  throw Fault(base::Refusal(key, expected, value));
}

void CheckRange(const std::string& key, double value, double low, double high) {
  // The negated form also rejects NaN.
  if (!(value >= low && value <= high)) Reject(key, Printed(value), Printed(low) + " to " + Printed(high));
}

MeasurementSource SourceOf(const std::string& key, const std::string& text, MeasurementSource first,
                           MeasurementSource last) {
  std::string allowed;
  for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i) {
    if (text == kSources[i]) return static_cast<MeasurementSource>(i);
    text::AddTo(&allowed, kSources[i]);
  }
  Reject(key, base::Shown(text), allowed);
}

struct Allowed {
  double low = 0;
  double high = 0;
  MeasurementSource first = MeasurementSource::kTurns;
  MeasurementSource last = MeasurementSource::kTurns;
};

turn::Time ReadInstant(const std::string& key, double seconds, const Clocks& now) {
  CheckRange(key, seconds, 0, kLastSecond);
  const turn::Time wall = std::llround(seconds * kUsPerSecond) * base::kNsPerUs;
  return std::min(now.monotonic, wall - (now.wall - now.monotonic));
}

template <class T>
std::optional<Measurement<T>> ReadFigure(const std::string& key, bool has, const node::v1::Figure& figure,
                                         double unit, const Allowed& allowed, const Clocks& now) {
  if (!has) return std::nullopt;
  CheckRange(key + ".value", figure.value(), allowed.low, allowed.high);
  const turn::Time at = ReadInstant(key + ".learned_at_s", figure.learned_at_s(), now);
  if (figure.has_error()) CheckRange(key + ".error", figure.error(), 0, 1);
  T value{};
  if constexpr (std::is_integral_v<T>) {
    value = static_cast<T>(std::llround(figure.value() * unit));
  } else {
    value = figure.value() * unit;
  }
  return Measurement<T>{.value = value,
                        .at = at,
                        .source = SourceOf(key + ".source", figure.source(), allowed.first, allowed.last),
                        .error = figure.error()};
}

JobProfile ReadProfile(const node::v1::JobProfile& message, const Clocks& now) {
  if (!arbiter::ValidGangName(message.gang())) {
    Reject("gang", base::Shown(message.gang()), "1 to 127 printable ASCII characters without spaces");
  }
  const Allowed steps = {1e-6, kLongestMs, MeasurementSource::kMeasured, MeasurementSource::kEstimated};
  const Allowed compute = {1e-6, kLongestMs};
  const Allowed away = {0, kLongestMs};
  const Allowed jitter = {0, 1000};
  const Allowed memory = {1, kMostBytes, MeasurementSource::kNvml, MeasurementSource::kRefused};
  JobProfile profile;
  profile.job = {.gang = message.gang(), .uid = message.uid(), .size = message.size()};
  profile.step_alone = ReadFigure<turn::Time>("step_alone_ms", message.has_step_alone_ms(),
                                              message.step_alone_ms(), kNsPerMs, steps, now);
  profile.compute = ReadFigure<turn::Time>("compute_ms", message.has_compute_ms(), message.compute_ms(),
                                           kNsPerMs, compute, now);
  profile.away =
      ReadFigure<turn::Time>("away_ms", message.has_away_ms(), message.away_ms(), kNsPerMs, away, now);
  profile.jitter = ReadFigure<double>("jitter", message.has_jitter(), message.jitter(), 1, jitter, now);
  profile.peak_memory = ReadFigure<std::uint64_t>("peak_memory_bytes", message.has_peak_memory_bytes(),
                                                  message.peak_memory_bytes(), 1, memory, now);
  if (message.has_disturbed_at_s())
    profile.disturbed = ReadInstant("disturbed_at_s", message.disturbed_at_s(), now);
  if (profile.compute.has_value() != profile.away.has_value()) {
    Reject(profile.compute ? "away_ms" : "compute_ms", "nothing", "a figure, where the other one is");
  }
  return profile;
}

// Returns `text` as one line of at most 300 printable ASCII characters: the parser's message may quote any
// bytes of the file.
std::string OneLine(std::string_view text) {
  constexpr std::size_t kMost = 300;
  std::string line(text.substr(0, kMost));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return line;
}

turn::Time WallNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return turn::Time{now.tv_sec} * base::kNsPerSecond + now.tv_nsec;
}

bool Plain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

}  // namespace

Clocks Clocks::Now() { return {.monotonic = base::MonotonicNs(), .wall = WallNs()}; }

void Fill(const JobProfile& profile, const Clocks& now, node::v1::JobProfile* message) {
  using Message = node::v1::JobProfile;
  message->set_gang(profile.job.gang);
  message->set_uid(profile.job.uid);
  message->set_size(profile.job.size);
  FillFigure(profile.compute, kNsPerMs, now, &Message::mutable_compute_ms, message);
  FillFigure(profile.away, kNsPerMs, now, &Message::mutable_away_ms, message);
  FillFigure(profile.jitter, 1, now, &Message::mutable_jitter, message);
  FillFigure(profile.step_alone, kNsPerMs, now, &Message::mutable_step_alone_ms, message);
  FillFigure(profile.peak_memory, 1, now, &Message::mutable_peak_memory_bytes, message);
  if (profile.disturbed) message->set_disturbed_at_s(WallSeconds(*profile.disturbed, now));
}

std::string ProfileText(const JobProfile& profile, const Clocks& now) {
  node::v1::JobProfile message;
  Fill(profile, now, &message);
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  static_cast<void>(google::protobuf::util::MessageToJsonString(message, &text, options));
  return text;
}

std::optional<JobProfile> ParseProfile(std::string_view text, const std::string& name, const Clocks& now,
                                       std::string* error) {
  constexpr std::size_t kMostText = 64 << 10;
  if (text.size() > kMostText) {
    *error = base::Refusal(name, "at most 65536 bytes", std::to_string(text.size()));
    return std::nullopt;
  }
  node::v1::JobProfile message;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;  // a newer daemon, before a rollback, may have written them
  const auto status =
      google::protobuf::util::JsonStringToMessage({text.data(), text.size()}, &message, options);
  if (!status.ok()) {
    const auto what = status.message();
    *error = name + ": not a profile as this daemon writes it: " + OneLine({what.data(), what.size()});
    return std::nullopt;
  }
  try {
    return ReadProfile(message, now);
  } catch (const Fault& fault) {
    *error = name + ": " + fault.what();
    return std::nullopt;
  }
}

std::string ProfileFileName(const JobKey& job) {
  constexpr std::size_t kLongest = 150;
  constexpr std::size_t kKept = 120;
  std::string gang;
  std::array<char, 24> text;
  for (const char c : job.gang) {
    const auto byte = static_cast<unsigned char>(c);
    std::snprintf(text.data(), text.size(), Plain(byte) ? "%c" : "%%%02x", byte);
    gang += text.data();
  }
  if (gang.size() > kLongest) {
    gang = gang.substr(0, kKept) + "~" + base::HexOf(base::Hash(job.gang)).data();
  }
  return std::to_string(job.uid) + "-" + std::to_string(job.size) + "-" + gang + ".json";
}

}  // namespace crossover::deviceplugin
