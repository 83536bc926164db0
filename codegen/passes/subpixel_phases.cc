#include "codegen/passes/subpixel_phases.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "codegen/passes/conv_cost.h"

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
  const Phase empty{.window = WindowFrom(size, 0, 1, 1), .own = 0};
  int64_t first = 0;
  while (first < tap_step && (f + size.pad - first * size.dilation) % size.stride != 0) ++first;
  if (first >= std::min(tap_step, size.kernel)) return empty;
  const int64_t taps = (size.kernel - 1 - first) / tap_step + 1;
  // What the first tap meets under output 0 of the phase; the others meet what is before it.
  const int64_t top = (f + size.pad - first * size.dilation) / size.stride;
  const int64_t begin = top - (taps - 1) * dilation;
  if (begin >= size.in || top + size.steps() - 1 < 0) return empty;
  return {.window = WindowFrom(size, begin, taps, dilation),
          .own = taps,
          .first_tap = first + (taps - 1) * tap_step,
          .tap_step = tap_step};
}

// The position in x of the first tap under output 0.
int64_t Begin(const PhaseWindow& w) { return w.cut_before - w.pad_before; }

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

// Of a pixel of each phase.
int64_t CostOf(const ConvForms& forms, const PhasePlan& plan, int64_t ic, int64_t oc) {
  int64_t cost = 0;
  for (const PhasePart& part : plan.parts) {
    const int64_t taps =
        plan.rows[part.rows.first].window.taps * plan.columns[part.columns.first].window.taps;
    cost += PixelCost(forms, part.rows.count * part.columns.count * oc, taps, ic);
  }
  return cost;
}

}  // namespace

std::vector<Phase> Phases(const TransposedSize& size) {
  std::vector<Phase> phases;
  for (int64_t f = 0; f < size.stride; ++f) phases.push_back(MakePhase(size, f));
  return phases;
}

std::vector<Phase> UnderOneWindow(const std::vector<Phase>& phases, const TransposedSize& size) {
  const Phase* any = nullptr;  // with products
  int64_t begin = 0, end = 0;
  for (const Phase& phase : phases) {
    if (phase.own == 0) continue;
    const PhaseWindow& w = phase.window;
    const int64_t from = Begin(w), to = from + (w.taps - 1) * w.dilation;
    if (any != nullptr &&
        (w.dilation != any->window.dilation || (from - begin) % w.dilation != 0)) {
      return phases;
    }
    begin = any == nullptr ? from : std::min(begin, from);
    end = any == nullptr ? to : std::max(end, to);
    any = &phase;
  }
  if (any == nullptr) return phases;
  const int64_t dilation = any->window.dilation;
  const PhaseWindow window = WindowFrom(size, begin, (end - begin) / dilation + 1, dilation);
  std::vector<Phase> result = phases;
  for (Phase& phase : result) {
    if (phase.own > 0) phase.first_own = (Begin(phase.window) - begin) / dilation;
    phase.window = window;
  }
  return result;
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

PhasePlan PlanPhases(const TransposedSize& height, const TransposedSize& width, int64_t groups,
                     int64_t ic, int64_t oc, const std::optional<ConvForms>& forms) {
  const bool together = groups == 1;
  const std::vector<Phase> rows = Phases(height), columns = Phases(width);
  PhasePlan best{rows, columns, DividePhases(rows, columns, together)};
  if (!together) return best;
  const std::vector<Phase> wide_rows = UnderOneWindow(rows, height);
  const std::vector<Phase> wide_columns = UnderOneWindow(columns, width);
  const auto is_better = [&](const PhasePlan& plan) {
    const auto most = static_cast<size_t>(kMostParts);
    if (std::max(plan.parts.size(), best.parts.size()) > most) {
      return plan.parts.size() < best.parts.size();
    }
    return forms && CostOf(*forms, plan, ic, oc) < CostOf(*forms, best, ic, oc);
  };
  const auto consider = [&](const std::vector<Phase>& r, const std::vector<Phase>& c) {
    PhasePlan plan{r, c, DividePhases(r, c, true)};
    if (is_better(plan)) best = std::move(plan);
  };
  consider(rows, wide_columns);
  consider(wide_rows, columns);
  consider(wide_rows, wide_columns);
  return best;
}

}  // namespace rshift
