// libs: crossover::plugin
// Reads a CDI specification, which programs of other vendors write, and makes one of it.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "deviceplugin/plugin/cdi_spec.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace crossover::deviceplugin;
  using crossover::fuzz::Require;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string error;
  const auto spec = ReadCdiSpec(text, "file", &error);
  if (!spec) {
    Require(error.starts_with("file:"));
    return 0;
  }
  const CdiFacts facts{.found = {*spec},
                       .gpus = {{"GPU-a", 0}},
                       .device_files = {"/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidiactl"},
                       .given_kind = "nvidia.com/gpu",
                       .driver_root = "/driver"};
  const CdiChoice choice = ChooseCdi(CdiSource::kOwn, facts);
  const auto* own = std::get_if<CdiOwn>(&choice);
  Require(own != nullptr);
  // The daemon reads what it has written, and finds the GPU in it.
  const auto again = ReadCdiSpec(own->text, "own", &error);
  Require(again.has_value() && again->devices.size() == 1 && again->devices[0] == "GPU-a");
  return 0;
}
