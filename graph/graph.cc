#include "graph/graph.h"

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_set>

#include "base/error.h"

namespace rshift {
namespace {

bool InRange(ValueId id, size_t count) {
  return id.valid() && static_cast<size_t>(id.index()) < count;
}

void CheckOrigin(const Value& value) {
  const QuantizedOrigin& origin = *value.origin;
  const auto scales = static_cast<int64_t>(origin.scales.size());
  const int64_t wanted = origin.axis < 0 ? 1 : value.shape[origin.axis];
  const auto bytes = static_cast<size_t>(NumElements(value.shape)) * SizeOf(origin.dtype);
  RSHIFT_REQUIRE(value.is_constant() && scales == wanted &&
                     origin.zero_points.size() == origin.scales.size() &&
                     origin.integers->bytes.size() == bytes,
                 ErrorCode::kInternal, "constant '", value.name, "' of ", ToString(value.shape),
                 " does not fit the integers it remembers; this is a bug in Rshift");
}

void CheckValues(const std::vector<Value>& values) {
  std::unordered_set<std::string> names;
  for (const Value& value : values) {
    RSHIFT_REQUIRE(names.insert(value.name).second, ErrorCode::kInternal,
                   "graph: two values are named '", value.name, "'; this is a bug in Rshift");
    RSHIFT_REQUIRE(value.layout != Layout::kNhwc || value.shape.size() == 4, ErrorCode::kInternal,
                   "value '", value.name, "': NHWC needs 4 dimensions, found ",
                   ToString(value.shape), "; this is a bug in Rshift");
    if (value.origin != nullptr) CheckOrigin(value);
    if (!value.is_constant()) continue;
    const size_t want = static_cast<size_t>(NumElements(value.shape)) * SizeOf(value.dtype);
    RSHIFT_REQUIRE(value.constant->bytes.size() == want, ErrorCode::kInternal, "constant '",
                   value.name, "' of ", ToString(value.shape), " ", Name(value.dtype), " expected ",
                   want, " bytes, found ", value.constant->bytes.size(),
                   "; this is a bug in Rshift");
  }
}

}  // namespace

ValueId Graph::AddValue(Value value) {
  values_.push_back(std::move(value));
  return ValueId(static_cast<int32_t>(values_.size()) - 1);
}

NodeId Graph::AddNode(Node node) {
  nodes_.push_back(std::move(node));
  return NodeId(static_cast<int32_t>(nodes_.size()) - 1);
}

const Value& Graph::value(ValueId id) const {
  RSHIFT_REQUIRE(InRange(id, values_.size()), ErrorCode::kInternal, "graph: value id ", id.index(),
                 " is outside [0, ", values_.size(), "); this is a bug in Rshift");
  return values_[id.index()];
}

Value& Graph::value(ValueId id) {
  return const_cast<Value&>(static_cast<const Graph*>(this)->value(id));
}

std::string Graph::UniqueName(const std::string& base) const {
  if (!FindValue(base).valid()) return base;
  for (int i = 1;; ++i) {
    std::string candidate = base + "_" + std::to_string(i);
    if (!FindValue(candidate).valid()) return candidate;
  }
}

ValueId Graph::FindValue(const std::string& wanted) const {
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].name == wanted) return ValueId(static_cast<int32_t>(i));
  }
  return ValueId();
}

std::vector<NodeId> Graph::Producers() const {
  std::vector<NodeId> producers(values_.size());
  for (size_t n = 0; n < nodes_.size(); ++n) {
    for (ValueId id : nodes_[n].outputs) {
      if (id.valid()) producers[id.index()] = NodeId(static_cast<int32_t>(n));
    }
  }
  return producers;
}

std::vector<std::vector<NodeId>> Graph::Consumers() const {
  std::vector<std::vector<NodeId>> consumers(values_.size());
  for (size_t n = 0; n < nodes_.size(); ++n) {
    for (ValueId id : nodes_[n].inputs) {
      if (id.valid()) consumers[id.index()].push_back(NodeId(static_cast<int32_t>(n)));
    }
  }
  return consumers;
}

bool Graph::IsOutput(ValueId id) const {
  return std::find(outputs.begin(), outputs.end(), id) != outputs.end();
}

void Graph::ReplaceUses(ValueId from, ValueId to) {
  for (Node& node : nodes_) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  std::replace(outputs.begin(), outputs.end(), from, to);
}

void Graph::RemoveUnused() {
  const std::vector<NodeId> producers = Producers();
  std::vector<bool> needed(values_.size(), false);
  std::vector<bool> kept(nodes_.size(), false);
  for (ValueId id : inputs) needed[id.index()] = true;
  std::vector<ValueId> open = outputs;  // works in any node order
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (!id.valid()) continue;
    needed[id.index()] = true;
    const NodeId maker = producers[id.index()];
    if (!maker.valid() || kept[maker.index()]) continue;
    kept[maker.index()] = true;
    for (ValueId other : nodes_[maker.index()].outputs) {
      if (other.valid()) needed[other.index()] = true;
    }
    open.insert(open.end(), nodes_[maker.index()].inputs.begin(),
                nodes_[maker.index()].inputs.end());
  }
  std::vector<Node> nodes;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    if (kept[n]) nodes.push_back(std::move(nodes_[n]));
  }
  nodes_ = std::move(nodes);

  std::vector<ValueId> renumbered(values_.size());
  std::vector<Value> values;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (!needed[i]) continue;
    renumbered[i] = ValueId(static_cast<int32_t>(values.size()));
    values.push_back(std::move(values_[i]));
  }
  values_ = std::move(values);
  const auto renumber = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids) {
      if (id.valid()) id = renumbered[id.index()];
    }
  };
  for (Node& node : nodes_) {
    renumber(node.inputs);
    renumber(node.outputs);
  }
  renumber(inputs);
  renumber(outputs);
}

void Graph::SortTopologically() {
  const std::vector<NodeId> producers = Producers();
  std::vector<std::vector<int32_t>> users(nodes_.size());
  std::vector<int> waiting(nodes_.size(), 0);
  for (size_t n = 0; n < nodes_.size(); ++n) {
    for (ValueId id : nodes_[n].inputs) {
      if (!id.valid() || !producers[id.index()].valid()) continue;
      users[producers[id.index()].index()].push_back(static_cast<int32_t>(n));
      ++waiting[n];
    }
  }
  // The smallest old position that is ready goes next: what is in order stays where it is.
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> ready;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    if (waiting[n] == 0) ready.push(static_cast<int32_t>(n));
  }
  std::vector<Node> sorted;
  while (!ready.empty()) {
    const int32_t n = ready.top();
    ready.pop();
    sorted.push_back(std::move(nodes_[n]));
    for (int32_t user : users[n]) {
      if (--waiting[user] == 0) ready.push(user);
    }
  }
  RSHIFT_REQUIRE(sorted.size() == nodes_.size(), ErrorCode::kInternal, "graph '", name,
                 "': ", nodes_.size() - sorted.size(),
                 " nodes form a cycle; this is a bug in Rshift");
  nodes_ = std::move(sorted);
}

void Graph::Check() const {
  CheckValues(values_);
  RSHIFT_REQUIRE(outputs.size() == output_names.size(), ErrorCode::kInternal, "graph '", name,
                 "': ", outputs.size(), " outputs but ", output_names.size(),
                 " output names; this is a bug in Rshift");
  std::vector<bool> made(values_.size(), false);
  for (size_t i = 0; i < values_.size(); ++i) made[i] = values_[i].is_constant();
  for (ValueId id : inputs) {
    RSHIFT_REQUIRE(InRange(id, values_.size()) && !made[id.index()], ErrorCode::kInternal,
                   "graph '", name, "': input id ", id.index(),
                   " is no activation or stands twice; this is a bug in Rshift");
    made[id.index()] = true;
  }
  for (const Node& node : nodes_) {
    for (ValueId id : node.inputs) {
      if (!id.valid()) continue;
      RSHIFT_REQUIRE(InRange(id, values_.size()), ErrorCode::kInternal, "node '", node.name,
                     "': input id ", id.index(), " is outside [0, ", values_.size(),
                     "); this is a bug in Rshift");
      RSHIFT_REQUIRE(made[id.index()], ErrorCode::kInternal, "node '", node.name, "' reads '",
                     values_[id.index()].name, "' before it is made; this is a bug in Rshift");
    }
    for (ValueId id : node.outputs) {
      if (!id.valid()) continue;
      RSHIFT_REQUIRE(InRange(id, values_.size()), ErrorCode::kInternal, "node '", node.name,
                     "': output id ", id.index(), " is outside [0, ", values_.size(),
                     "); this is a bug in Rshift");
      RSHIFT_REQUIRE(!made[id.index()], ErrorCode::kInternal, "node '", node.name, "' makes '",
                     values_[id.index()].name,
                     "', which something else makes too; this is a bug in Rshift");
      made[id.index()] = true;
    }
  }
  for (ValueId id : outputs) {
    RSHIFT_REQUIRE(InRange(id, values_.size()) && made[id.index()], ErrorCode::kInternal, "graph '",
                   name, "': output id ", id.index(), " has no producer; this is a bug in Rshift");
  }
}

}  // namespace rshift
