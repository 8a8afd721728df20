// Puts a shell script in kubectl's place, in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cli/cluster/kubectl.h"

namespace crossover::cli {

// Writes the script into the folder as `kubectl`. The script starts in that folder.
class StandInKubectl : public ::testing::Test {
 protected:
  explicit StandInKubectl(const char* script) {
    std::string name = std::filesystem::temp_directory_path().string() + "/kubectl-XXXXXX";
    folder_ = mkdtemp(name.data());
    std::ofstream(File("kubectl")) << "#!/bin/sh\ncd \"$(dirname \"$0\")\" || exit 1\n" << script;
    std::filesystem::permissions(File("kubectl"), std::filesystem::perms::owner_all);
  }
  ~StandInKubectl() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  std::string Read(const std::string& name) const {
    std::ifstream file(File(name));
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  Kubectl Called() const { return Kubectl({}, File("kubectl")); }

 private:
  std::string folder_;
};

}  // namespace crossover::cli
