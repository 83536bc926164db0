#include "pipeline/config_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/names.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

// What became of the names of a model.
class FusedNames {
 public:
  FusedNames(const Graph& imported, const Graph& passed)
      : imported_(imported), readers_(imported.Consumers()) {
    for (const ValueId id : passed.inputs) names_.insert(passed.value(id).name);
    for (const Node& node : passed.nodes()) {
      names_.insert(node.name);
      names_.insert(passed.value(node.outputs[0]).name);
      makers_[passed.value(node.outputs[0]).name] = node.name;
    }
  }

  bool Matches(const std::string& glob) const {
    return std::any_of(names_.begin(), names_.end(),
                       [&](const std::string& name) { return MatchesGlob(glob, name); });
  }

  // The first name of the imported model that a wildcard matches; "" for none.
  std::string FirstMatch(const std::string& glob) const {
    for (const Node& node : imported_.nodes()) {
      for (const std::string& name : {node.name, imported_.value(node.outputs[0]).name})
        if (MatchesGlob(glob, name)) return name;
    }
    return "";
  }

  // As FateOfName.
  std::string Fate(const std::string& name) const {
    if (names_.contains(name)) return "";
    const ValueId value = imported_.FindValue(name);
    if (value.valid() && imported_.value(value).is_constant())
      return "is a constant; name the layer that reads it";
    const auto& nodes = imported_.nodes();
    const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const Node& one) {
      return one.name == name || imported_.value(one.outputs[0]).name == name;
    });
    return node == nodes.end() ? "" : Follow(*node);
  }

 private:
  // A fused tensor bears the name of the last one that it covers: the nearest behind the node.
  std::string Follow(const Node& from) const {
    std::vector<const Node*> front = {&from};
    std::set<const Node*> seen = {&from};
    for (size_t i = 0; i < front.size(); ++i) {
      const ValueId id = front[i]->outputs[0];
      const std::string& tensor = imported_.value(id).name;
      const auto maker = makers_.find(tensor);
      if (maker != makers_.end() && maker->second == tensor)
        return Cat("is part of '", tensor, "' after fusion; name that");
      if (maker != makers_.end())
        return Cat("is part of '", maker->second, "' after fusion; name that, or its result '",
                   tensor, "'");
      for (const NodeId reader : readers_[static_cast<size_t>(id.index())]) {
        const Node* next = &imported_.node(reader);
        if (seen.insert(next).second) front.push_back(next);
      }
    }
    return "is part of others after fusion; --dump-graph passes lists the names";
  }

  const Graph& imported_;
  std::vector<std::vector<NodeId>> readers_;
  std::set<std::string> names_;                // of nodes and tensors that are left
  std::map<std::string, std::string> makers_;  // of those: tensor -> node
};

}  // namespace

std::string FateOfName(const Graph& imported, const Graph& passed, const std::string& name) {
  return FusedNames(imported, passed).Fate(name);
}

void CheckFusedNames(const Graph& imported, const Graph& passed, const QuantizeConfig& config) {
  if (config.empty()) return;
  const FusedNames names(imported, passed);
  for (const auto& [name, layer] : config.layers) {
    const std::string fate = names.Fate(name);
    RSHIFT_REQUIRE(fate.empty(), ErrorCode::kInvalidInput, EntryPlace(config, layer), ": '", name,
                   "' ", fate);
  }
  for (const LayerPattern& pattern : config.patterns) {
    if (!pattern.types.empty() || names.Matches(pattern.glob)) continue;
    const std::string name = names.FirstMatch(pattern.glob);
    RSHIFT_REQUIRE(name.empty(), ErrorCode::kInvalidInput, EntryPlace(config, pattern.layer), ": '",
                   pattern.glob, "' matches '", name, "', which ", names.Fate(name));
  }
}

}  // namespace rshift
