// Makes a CDI specification that names the GPUs of this node by their UUIDs, if nothing else on the node has
// one. Under the GPU Operator, NVIDIA's toolkit writes a specification that names all GPUs together
// (management.nvidia.com/gpu=all). What it says of the driver's libraries holds for each GPU, too.
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/names.h"

namespace crossover::deviceplugin {

// This kind of CDI devices is ours.
inline constexpr char kOwnCdiKind[] = CROSSOVER_DOMAIN "/gpu";

struct CdiMount {
  std::string host_path, container_path, type;
  std::vector<std::string> options;

  friend bool operator==(const CdiMount&, const CdiMount&) = default;
};
struct CdiHook {
  std::string name, path;
  std::vector<std::string> args, env;
  std::optional<std::int64_t> timeout_s;

  friend bool operator==(const CdiHook&, const CdiHook&) = default;
};
struct CdiDeviceNode {
  std::string path;       // in the container
  std::string host_path;  // empty: the same

  friend bool operator==(const CdiDeviceNode&, const CdiDeviceNode&) = default;
};

// Holds what a specification says, as far as another one can be made of it.
struct CdiSpec {
  std::string kind;  // vendor/class
  std::vector<std::string> devices;
  // The next fields are those of all devices of the specification.
  std::vector<std::string> env;
  std::vector<CdiMount> mounts;
  std::vector<CdiHook> hooks;
  // The next fields are those of all devices and of single devices.
  std::vector<CdiDeviceNode> nodes;
};

// Reads a specification in YAML or JSON. `name` is the name of its file, for messages. Returns nullopt, with
// one line in `error`, if it is none, or has a path that is not absolute, has `..` in it or control
// characters. Programs of other vendors write these files.
std::optional<CdiSpec> ReadCdiSpec(const std::string& text, const std::string& name, std::string* error);

// Says which specification the names of GPUs are of.
enum class CdiSource {
  kAuto,   // the given one if there is one, else our own
  kGiven,  // the one that NVIDIA's toolkit, or an administrator, has written
  kOwn     // the one that the daemon writes
};

struct CdiGpu {
  std::string uuid;
  unsigned minor = 0;  // number in /dev/nvidia<minor>
};

// Holds what is known of the node.
struct CdiFacts {
  std::vector<CdiSpec> found;  // without our own
  std::vector<CdiGpu> gpus;
  std::vector<std::string> device_files;  // the files of /dev/nvidia* that the node has
  std::string given_kind;                 // node.cdi_kind
  std::string driver_root;                // node.driver_root
};

// Says that the given specification names all GPUs, or is not asked about.
struct CdiGiven {};
// Holds our own specification.
struct CdiOwn {
  std::string text;  // JSON
};
// Says why containers cannot get GPUs by CDI.
struct CdiNone {
  std::string why;
};
using CdiChoice = std::variant<CdiGiven, CdiOwn, CdiNone>;

// Returns which specification the names of GPUs are of: the given one, our own with its text, or none with
// the reason.
CdiChoice ChooseCdi(CdiSource wanted, const CdiFacts& facts);

}  // namespace crossover::deviceplugin
