// While it is there, the kernel has no inotify instance for this program, as where a node's are used up.
#pragma once

namespace crossover::deviceplugin {

class NoInotify {
 public:
  NoInotify();
  ~NoInotify();
  NoInotify(const NoInotify&) = delete;
  NoInotify& operator=(const NoInotify&) = delete;
};

}  // namespace crossover::deviceplugin
