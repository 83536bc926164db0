#include "graph/passes/fake_quantize_reading.h"

#include <cmath>

#include "graph/level_reading.h"
#include "isa/fake_quantize.h"

namespace rshift {

std::optional<FakeQuantizeReading> ReadFakeQuantize(const FakeQuantize& op, const Value& ranges,
                                                    const std::string& name) {
  if (op.levels > 256) return std::nullopt;
  FakeQuantizeReading r;
  r.levels = op.levels;
  r.axis = op.axis;
  const auto steps = static_cast<double>(op.levels - 1);
  const auto rows = ranges.constant->As<FakeQuantizeRange>();
  for (size_t c = 0; c < rows.size(); ++c) {
    const FakeQuantizeRange& row = rows[c];
    const std::optional<LevelReading> out = ReadLevels(row.out_low, row.out_high, op.levels);
    const double in = (static_cast<double>(row.in_high) - row.in_low) / steps;
    if (!out || !(in > 0) || !std::isfinite(in)) return std::nullopt;
    if (row.out_low == row.out_high) return std::nullopt;  // always 0: stays what it is
    const double before = (static_cast<double>(row.out_high) - row.out_low) / steps;
    const double widened = out->scale / before;  // 1 unless tuned; the input range widens alike
    const bool same = row.in_low == row.out_low && row.in_high == row.out_high;
    r.in_scale.push_back(same ? out->scale : in * widened);
    r.scale.push_back(out->scale);
    r.zero.push_back(out->zero);
    // Where the level of the value 0 in stands from that of 0 out.
    const double zeros = (row.out_low / before) - (row.in_low / in);
    const double shift = same || std::fabs(zeros) <= kZeroPointTolerance ? 0 : zeros / widened;
    r.shift.push_back(shift);
    if (!out->tuned) continue;
    r.tuned.push_back({name, rows.size() == 1 ? -1 : static_cast<int64_t>(c), row.out_low,
                       row.out_high, out->low, out->high});
  }
  return r;
}

}  // namespace rshift
