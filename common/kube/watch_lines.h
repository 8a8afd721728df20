// What the lines of a watch say, and where the next request goes on: the part of ListWatch that neither asks
// nor waits. Not thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

namespace crossover::kube {

// Takes lists that are too long to be held whole, and what changes afterwards.
class ListSink {
 public:
  virtual ~ListSink() = default;
  // A list begins; where one had begun and not ended, it never will.
  virtual void OnListBegin() = 0;
  // One object of it, perhaps with changes and deletions in between.
  virtual void OnListed(nlohmann::json&& object) = 0;
  // What was known, and was not listed since the beginning, is gone.
  virtual void OnListEnd() = 0;
  virtual void OnChange(const nlohmann::json& object) = 0;
  virtual void OnDelete(const nlohmann::json& object) = 0;
};

class WatchLines {
 public:
  enum class Heard {
    kNothing,       // the watch goes on, from where it was
    kProgress,      // it goes on from a newer version
    kListed,        // likewise, and a list that was streamed is whole
    kLost,          // it ends: list anew
    kCannotStream,  // it ends: the server cannot stream a list
    kEnded,         // it ends: the server says why, in why()
  };

  // `sink` has to outlive this object. `without` names fields of metadata, spec and status that no reader
  // needs.
  WatchLines(ListSink* sink, std::set<std::string> without);

  // One line of the answer to a watch. Tells the sink, which gets objects of JSON and nothing else.
  Heard Hear(std::string_view line);

  // A list is streamed from now on. EndList() returns whether it broke off.
  void BeginList();
  bool EndList();

  // The resourceVersion to go on from; empty: list anew.
  const std::string& version() const { return version_; }
  // The newest that was seen, also of a thread that is lost; empty before the first.
  const std::string& newest() const { return newest_; }
  void Note(const std::string& version);
  void Lose() { version_.clear(); }
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
