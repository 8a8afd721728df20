// Looks for CDI specifications on the node, and writes one of our own if none names its GPUs (cdi_spec.h).
// Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/files/file_id.h"
#include "deviceplugin/plugin/cdi_spec.h"

namespace crossover::deviceplugin {

class CdiFolder {
 public:
  struct Settings {
    // Container runtimes read these folders. The node's /etc/cdi is in a container under process 1.
    std::vector<std::string> read = {"/etc/cdi", "/proc/1/root/etc/cdi", "/var/run/cdi"};
    std::string write = "/var/run/cdi";  // the folder for our own specification
    // The folder dev of each of these has the node's device files.
    std::vector<std::string> roots = {"", "/proc/1/root"};
  };
  // Says how containers get GPUs by CDI now.
  struct State {
    bool own = false;  // our own specification names them
    std::string why;   // why they get none; empty: they do

    friend bool operator==(const State&, const State&) = default;
  };
  struct Wanted {
    CdiSource source = CdiSource::kAuto;
    std::vector<CdiGpu> gpus;
    std::string given_kind;
    std::string driver_root;
  };

  explicit CdiFolder(Settings settings) : settings_(std::move(settings)) {}

  // Looks at all files and makes our own specification what it has to be. A reboot empties the folder, so the
  // file is written again whenever it is missing or differs. Once written it stays: containers that have
  // names of it may start again. Reads only files that have changed. Returns how containers get GPUs by CDI
  // now.
  State Look(const Wanted& wanted);

  // Returns the path of our own specification.
  std::string path() const;

 private:
  std::vector<CdiSpec> Read();
  std::vector<std::string> DeviceFiles() const;

  struct File {
    files::FileId id;
    std::optional<CdiSpec> spec;  // unset: it is none
  };
  const Settings settings_;
  std::map<std::string, File> files_;
  State last_;
  bool given_ = false;  // a given specification named them at the last look
};

}  // namespace crossover::deviceplugin
