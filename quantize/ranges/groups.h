// Values whose ranges must be equal, as a union-find forest. A group has one range, that of its
// owner; a rule joins two groups and says which one leads. Joining only ever makes groups larger,
// so propagation terminates and cannot cycle.
#ifndef RSHIFT_QUANTIZE_RANGES_GROUPS_H_
#define RSHIFT_QUANTIZE_RANGES_GROUPS_H_

#include <string>
#include <vector>

#include "base/union_find.h"
#include "graph/graph.h"
#include "quantize/ranges/ranges.h"

namespace rshift {

// Equal in what the mode uses: then, and only then, scale, zero point and type are equal.
bool SameRange(const ValueRange& a, const ValueRange& b, QuantMode mode);
// The least range that holds `range` and the number `value`. A symmetric unsigned range becomes
// signed when the number is negative.
ValueRange Including(const ValueRange& range, float value, QuantMode mode);

class RangeGroups {
 public:
  // One group for each value. `fixed`: the user gave the range; it wins its group.
  RangeGroups(const Graph& graph, QuantMode mode, std::vector<ValueRange> ranges,
              std::vector<bool> fixed);

  const ValueRange& range(ValueId id) const { return groups_[Root(id)].range; }
  // Before any joining.
  const ValueRange& own_range(ValueId id) const { return own_[id.index()]; }
  bool Together(ValueId a, ValueId b) const { return Root(a) == Root(b); }
  // The value whose range the group has.
  ValueId owner(ValueId id) const { return groups_[Root(id)].owner; }
  const std::vector<ValueId>& members(ValueId id) const { return groups_[Root(id)].members; }

  // The user gave the range.
  bool fixed(ValueId id) const { return groups_[Root(id)].fixed; }
  // The numbers its range must hold.
  const std::vector<float>& included(ValueId id) const { return groups_[Root(id)].included; }

  // False when both groups are fixed to different ranges: they then stay apart.
  bool CanJoin(ValueId leader, ValueId follower) const;
  // The follower's group takes the leader's range (a fixed follower wins over a leader that is
  // not).
  void Join(ValueId leader, ValueId follower, const std::string& rule, const std::string& reason);
  // The group's range must hold this number as well. A fixed group stays as it is.
  void Include(ValueId id, float value, const std::string& rule, const std::string& reason);

  // The group's range becomes unsigned and reaches down to low < 0. Symmetric mode, after all
  // joins.
  void Shift(ValueId id, float low, const std::string& rule, const std::string& reason);

  std::vector<RangeChange> TakeChanges() { return std::move(changes_); }
  QuantMode mode() const { return mode_; }

 private:
  struct Group {
    ValueRange range;
    ValueId owner;
    bool fixed = false;
    std::vector<float> included;
    std::vector<ValueId> members;
  };
  int Root(ValueId id) const;
  void SetRange(int root, const ValueRange& range, const std::string& rule,
                const std::string& reason);

  const Graph& graph_;
  QuantMode mode_;
  std::vector<ValueRange> own_;
  UnionFind joined_;           // values
  std::vector<Group> groups_;  // meaningful at roots
  std::vector<RangeChange> changes_;
};

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_RANGES_GROUPS_H_
