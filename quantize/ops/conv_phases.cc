#include "quantize/ops/conv_phases.h"

#include <algorithm>
#include <numeric>

namespace rshift {
namespace {

PhaseWindow WindowFrom(const TransposedSize& size, int64_t begin, int64_t taps, int64_t dilation) {
  const int64_t last = begin + (taps - 1) * dilation + size.steps() - 1;
  return {.taps = taps,
          .dilation = dilation,
          .cut_before = std::max<int64_t>(begin, 0),
          .cut_after = std::max<int64_t>(size.in - 1 - last, 0),
          .pad_before = std::max<int64_t>(-begin, 0),
          .pad_after = std::max<int64_t>(last - (size.in - 1), 0)};
}

Phase MakePhase(const TransposedSize& size, int64_t f) {
  const int64_t divisor = std::gcd(size.stride, size.dilation);
  const int64_t tap_step = size.stride / divisor, dilation = size.dilation / divisor;
  const Phase empty{WindowFrom(size, 0, 1, 1), true, 0, 1};
  int64_t first = 0;
  while (first < tap_step && (f + size.pad - first * size.dilation) % size.stride != 0) ++first;
  if (first >= std::min(tap_step, size.kernel)) return empty;
  const int64_t taps = (size.kernel - 1 - first) / tap_step + 1;
  // What the first tap meets under output 0 of the phase; the others meet what is before it.
  const int64_t top = (f + size.pad - first * size.dilation) / size.stride;
  const int64_t begin = top - (taps - 1) * dilation;
  if (begin >= size.in || top + size.steps() - 1 < 0) return empty;
  return {WindowFrom(size, begin, taps, dilation), false, first + (taps - 1) * tap_step, tap_step};
}

std::vector<PhaseRun> Runs(const std::vector<Phase>& phases, bool together) {
  std::vector<PhaseRun> runs;
  for (size_t f = 0; f < phases.size(); ++f) {
    if (together && f > 0 && phases[f].window == phases[f - 1].window) {
      ++runs.back().count;
    } else {
      runs.push_back({static_cast<int64_t>(f), 1});
    }
  }
  return runs;
}

}  // namespace

std::vector<Phase> Phases(const TransposedSize& size) {
  std::vector<Phase> phases;
  for (int64_t f = 0; f < size.stride; ++f) phases.push_back(MakePhase(size, f));
  return phases;
}

std::vector<PhasePart> DividePhases(const std::vector<Phase>& rows,
                                    const std::vector<Phase>& columns, bool together) {
  const std::vector<PhaseRun> columns_runs = Runs(columns, together);
  std::vector<PhasePart> parts;
  // Rows of phases are neighbours only where a part has whole rows.
  for (const PhaseRun& row : Runs(rows, together && columns_runs.size() == 1)) {
    for (const PhaseRun& column : columns_runs) parts.push_back({row, column});
  }
  return parts;
}

}  // namespace rshift
