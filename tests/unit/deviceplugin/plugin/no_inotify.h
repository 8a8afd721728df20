// Takes inotify away: while a NoInotify exists, this program gets no inotify instance, as on a node that has
// used up all of them.
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
