// One range for the outputs of all steps of a layer, and for what only moves them: their products
// then have equal numbers, and nothing is rescaled between the steps and the layer's output.
#include <algorithm>
#include <map>

#include "base/union_find.h"
#include "quantize/ops/recurrent.h"

namespace rshift {
namespace {

class Sharer {
 public:
  Sharer(const Graph& graph, const RecurrentCells& cells)
      : graph_(graph), cells_(cells), group_(static_cast<size_t>(graph.value_count())) {}

  void Run(const std::map<std::string, ValueRange>& fixed, RangeResult* result) {
    JoinSteps();
    JoinMoved();
    std::map<size_t, ValueRange> ranges;  // by group
    for (const RecurrentCell& cell : cells_.cells) {
      const ValueRange& own = result->ranges[cell.output.index()];
      const auto [at, is_new] = ranges.emplace(Find(cell.output), own);
      if (!is_new) Extend(own, &at->second);
    }
    for (const auto& [name, range] : fixed) {
      const ValueId id = graph_.FindValue(name);
      if (id.valid()) ranges.erase(Find(id));
    }
    for (const auto& [id, moved] : members_) {
      const auto found = ranges.find(Find(id));
      if (found == ranges.end()) continue;
      ValueRange& own = result->ranges[id.index()];
      if (!moved && !Equal(own, found->second)) {
        result->changes.push_back({graph_.value(id).name, "recurrent",
                                   "the steps of a layer have one range", own, found->second});
      }
      own = found->second;
    }
  }

 private:
  static void Extend(const ValueRange& by, ValueRange* range) {
    range->is_signed = range->is_signed || by.is_signed;
    range->threshold = std::max(range->threshold, by.threshold);
    range->low = std::min(range->low, by.low);
    range->high = std::max(range->high, by.high);
  }
  static bool Equal(const ValueRange& a, const ValueRange& b) {
    return a.is_signed == b.is_signed && a.threshold == b.threshold && a.low == b.low &&
           a.high == b.high;
  }

  static size_t Index(ValueId id) { return static_cast<size_t>(id.index()); }
  size_t Find(ValueId id) { return group_.Find(Index(id)); }
  void Join(ValueId a, ValueId b) { group_.Join(Index(a), Index(b)); }

  void JoinSteps() {
    std::map<ValueId, ValueId> output_of;  // by state
    for (const RecurrentCell& cell : cells_.cells) {
      members_[cell.output] = false;
      output_of[cell.state] = cell.output;
      const auto before = output_of.find(cell.old_state);
      if (before != output_of.end()) Join(before->second, cell.output);
    }
  }

  void JoinMoved() {
    for (const Node& node : graph_.nodes()) {
      const Movement movement = MovementOf(node.op);
      const bool all = std::all_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId id) { return members_.contains(id); });
      if (movement == Movement::kNone || movement == Movement::kPads || !all) continue;
      for (const ValueId id : node.inputs) Join(id, node.outputs[0]);
      members_[node.outputs[0]] = true;
    }
  }

  const Graph& graph_;
  const RecurrentCells& cells_;
  UnionFind group_;                  // of values
  std::map<ValueId, bool> members_;  // outputs of cells, and what was moved from them alone
};

}  // namespace

void ShareRecurrentRanges(const Graph& graph, const RecurrentCells& cells,
                          const std::map<std::string, ValueRange>& fixed, RangeResult* result) {
  if (!cells.cells.empty()) Sharer(graph, cells).Run(fixed, result);
}

}  // namespace rshift
