// Interprets the lines of a watch, and keeps the version at which the next request continues. It is the
// part of ListWatch that sends no requests and never blocks. Not thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

namespace crossover::kube {

// Receives lists that are too long to be held whole in memory, and later changes.
class ListSink {
 public:
  virtual ~ListSink() = default;
  // Receives the beginning of a list. An earlier list that has not ended will never end.
  virtual void OnListBegin() = 0;
  // Receives one object of the list. Changes and deletions may come in between.
  virtual void OnListed(nlohmann::json&& object) = 0;
  // Receives the end of a list: objects that were known and were not listed since OnListBegin() are gone.
  virtual void OnListEnd() = 0;
  virtual void OnChange(const nlohmann::json& object) = 0;
  virtual void OnDelete(const nlohmann::json& object) = 0;
};

class WatchLines {
 public:
  // Heard says what a line means for the watch.
  enum class Heard {
    kNothing,       // the watch goes on, at the same version
    kProgress,      // the watch goes on, at a newer version
    kListed,        // the watch goes on, and a streamed list is complete
    kLost,          // the watch ends: list again
    kCannotStream,  // the watch ends: the server cannot stream a list
    kEnded,         // the watch ends: why() has the server's reason
  };

  // `without` names fields of metadata, spec and status that no reader needs. REQUIRES: `sink` outlives
  // this object.
  WatchLines(ListSink* sink, std::set<std::string> without);

  // Handles one line of the answer to a watch and tells the sink. Returns what the line means for the watch.
  // The sink gets JSON objects and no other values.
  Heard Hear(std::string_view line);

  // Call BeginList() before the answer of a streamed list, and EndList() after it. EndList() returns whether
  // the list was incomplete.
  void BeginList();
  bool EndList();

  // Returns the resourceVersion at which the next request continues. If empty, the next request is a list.
  const std::string& version() const { return version_; }
  // Returns the newest resourceVersion seen, even if version() is lost; empty before the first.
  const std::string& newest() const { return newest_; }
  // Notes the version of a whole list or of an event. The next request continues there.
  void Note(const std::string& version);
  // Forgets version(), so that the next request is a list.
  void Lose() { version_.clear(); }
  // Returns the server's reason for the last kEnded.
  const std::string& why() const { return why_; }

 private:
  Heard HearError(const nlohmann::json& status);
  Heard HearObject(const std::string& type, nlohmann::json&& object);

  ListSink* const sink_;
  const std::set<std::string> without_;
  std::string version_, newest_, why_;
  bool listing_ = false;
};

}  // namespace crossover::kube
