#include "quantize/ranges/groups.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rshift {

bool SameRange(const ValueRange& a, const ValueRange& b, QuantMode mode) {
  if (mode == QuantMode::kSymmetric)
    return a.is_signed == b.is_signed && a.threshold == b.threshold && a.low == b.low;
  return a.low == b.low && a.high == b.high;
}

ValueRange Including(const ValueRange& range, float value, QuantMode mode) {
  ValueRange result = range;
  if (mode == QuantMode::kSymmetric) {
    result.is_signed = range.is_signed || value < 0;
    result.threshold = std::max(range.threshold, std::fabs(value));
  } else {
    result.low = std::min(range.low, value);
    result.high = std::max(range.high, value);
  }
  return result;
}

RangeGroups::RangeGroups(const Graph& graph, QuantMode mode, std::vector<ValueRange> ranges,
                         std::vector<bool> fixed)
    : graph_(graph),
      mode_(mode),
      own_(std::move(ranges)),
      joined_(own_.size()),
      groups_(own_.size()) {
  for (size_t i = 0; i < own_.size(); ++i) {
    const ValueId id(static_cast<int32_t>(i));
    groups_[i] = {own_[i], id, fixed[i], {}, {id}};
  }
}

int RangeGroups::Root(ValueId id) const {
  return static_cast<int>(joined_.Find(static_cast<size_t>(id.index())));
}

bool RangeGroups::CanJoin(ValueId leader, ValueId follower) const {
  const Group& a = groups_[Root(leader)];
  const Group& b = groups_[Root(follower)];
  return !(a.fixed && b.fixed) || SameRange(a.range, b.range, mode_);
}

void RangeGroups::SetRange(int root, const ValueRange& range, const std::string& rule,
                           const std::string& reason) {
  Group& group = groups_[root];
  if (SameRange(group.range, range, mode_)) return;
  for (ValueId id : group.members) {
    changes_.push_back({graph_.value(id).name, rule, reason, group.range, range});
  }
  group.range = range;
}

void RangeGroups::Join(ValueId leader, ValueId follower, const std::string& rule,
                       const std::string& reason) {
  int winner = Root(leader), loser = Root(follower);
  if (winner == loser) return;
  if (groups_[loser].fixed && !groups_[winner].fixed) std::swap(winner, loser);
  Group& kept = groups_[winner];
  Group& gone = groups_[loser];
  kept.included.insert(kept.included.end(), gone.included.begin(), gone.included.end());
  ValueRange range = kept.range;
  if (!kept.fixed) {
    for (float value : kept.included) range = Including(range, value, mode_);
  }
  SetRange(winner, range, rule, reason);
  SetRange(loser, range, rule, reason);
  kept.members.insert(kept.members.end(), gone.members.begin(), gone.members.end());
  joined_.Join(static_cast<size_t>(winner), static_cast<size_t>(loser));
}

void RangeGroups::Include(ValueId id, float value, const std::string& rule,
                          const std::string& reason) {
  const int root = Root(id);
  if (groups_[root].fixed) return;
  groups_[root].included.push_back(value);
  SetRange(root, Including(groups_[root].range, value, mode_), rule, reason);
}

void RangeGroups::Shift(ValueId id, float low, const std::string& rule, const std::string& reason) {
  const int root = Root(id);
  ValueRange range = groups_[root].range;
  range.is_signed = false;
  range.low = low;
  SetRange(root, range, rule, reason);
}

}  // namespace rshift
