// libs: crossover::node
// Reads an object as a ResourceSlice and as a ResourceClaim, and looks for GPUs in them. Drivers write
// slices, and any user writes claims.
#include <cstdint>
#include <nlohmann/json.hpp>

#include "deviceplugin/inventory/competing_dra_drivers.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace crossover::deviceplugin;
  using crossover::fuzz::Require;
  const auto object = nlohmann::json::parse(data, data + size, nullptr, false);
  if (object.is_discarded()) return 0;
  const DraSlice slice = ReadSlice(object);
  const DraClaim claim = ReadClaim(object);
  DraDevices known;
  known.Note({slice});
  const auto found = FindCompetingDraDrivers({slice}, {claim}, known, {"GPU-a", "GPU-b"});
  for (const auto& [uuid, why] : found) {
    Require(uuid == "GPU-a" || uuid == "GPU-b");
    Require(!why.text.empty() && why.text.size() < 300);
    Require(known.any());
  }
  const std::string version = ChooseDraVersion(object);
  Require(version.empty() || version.starts_with("v1"));
  return 0;
}
