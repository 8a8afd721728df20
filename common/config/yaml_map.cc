#include "common/config/yaml_map.h"

#include <yaml-cpp/eventhandler.h>

#include <set>
#include <sstream>

#include "common/base/refusal.h"
#include "common/text/list.h"
#include "common/text/number.h"

namespace crossover::yaml {
namespace {

std::string Printed(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  if (node.IsSequence()) return "a list";
  return node.IsMap() ? "a map" : "nothing";
}

std::string Names(const Handlers& handlers) {
  std::string names;
  for (const auto& [name, handler] : handlers) text::AddTo(&names, name);
  return names;
}

// Handles the events of a YAML parser and remembers only where the newest document started.
class DocumentFinder : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}

  const YAML::Mark& start() const { return start_; }

 private:
  YAML::Mark start_;
};

// Throws a Fault if `text` holds a second document. YAML::Load ignores whatever follows the first
// document, and YAML::LoadAll never ends on some texts that are not YAML (an anchor without a node). This
// function therefore parses up to the second document and no further.
void CheckOneDocument(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentFinder finder;
  if (parser.HandleNextDocument(finder) && parser.HandleNextDocument(finder)) {
    throw Fault(finder.start(), base::Refusal("the file", "one document", "a second one"));
  }
}

}  // namespace

void Reject(const YAML::Node& node, const std::string& key, std::string_view expected) {
  throw Fault(node.Mark(), base::Refusal(key, expected, Printed(node)));
}

void Scalar(const YAML::Node& node, const std::string& key, std::string_view expected,
            const std::function<bool(const std::string&)>& take) {
  if (!node.IsScalar() || !take(node.Scalar())) Reject(node, key, expected);
}

void Integer(const YAML::Node& node, const std::string& key, std::int64_t low, std::int64_t high,
             const std::function<void(std::int64_t)>& take) {
  Scalar(node, key, std::to_string(low) + " to " + std::to_string(high), [&](const std::string& text) {
    const auto value = text::ParseInteger(text, low, high);
    if (value) take(*value);
    return value.has_value();
  });
}

void Map(const YAML::Node& node, const std::string& prefix, const Handlers& handlers) {
  if (!node.IsMap()) Reject(node, prefix.empty() ? "the file" : prefix, "a map of " + Names(handlers));
  const std::string path = prefix.empty() ? "" : prefix + ".";
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : Printed(entry.first);
    const auto handler = handlers.find(name);
    if (handler == handlers.end()) {
      throw Fault(entry.first.Mark(), path + name + ": unknown key; expected one of " + Names(handlers));
    }
    if (!seen.insert(name).second) throw Fault(entry.first.Mark(), path + name + ": stands twice");
    handler->second(entry.second, path + name);
  }
}

bool Parse(const std::string& text, const std::string& name,
           const std::function<void(const YAML::Node&)>& read, std::string* error) {
  try {
    CheckOneDocument(text);
    read(YAML::Load(text));
    return true;
  } catch (const Fault& fault) {
    *error = name + ":" + std::to_string(fault.line) + ": " + fault.what();
  } catch (const YAML::Exception& fault) {
    *error = name + ":" + std::to_string(fault.mark.line + 1) + ": not YAML: " + fault.msg;
  }
  return false;
}

}  // namespace crossover::yaml
