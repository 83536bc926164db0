#include "codegen/passes/subpixel_phases.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>

namespace rshift {
namespace {

using Product = std::tuple<int64_t, int64_t, int64_t>;  // output, input, tap of the kernel

std::set<Product> ByDefinition(const TransposedSize& size) {
  std::set<Product> products;
  for (int64_t i = 0; i < size.in; ++i) {
    for (int64_t k = 0; k < size.kernel; ++k) {
      const int64_t o = i * size.stride + k * size.dilation - size.pad;
      if (o >= 0 && o < size.out) products.emplace(o, i, k);
    }
  }
  return products;
}

// Every position that the windows of the phases visit inside of x.
std::set<Product> ByPhases(const TransposedSize& size, const std::vector<Phase>& phases) {
  std::set<Product> products;
  for (int64_t f = 0; f < size.stride; ++f) {
    const Phase& phase = phases[f];
    const PhaseWindow& w = phase.window;
    const int64_t left = size.in - w.cut_before - w.cut_after;
    EXPECT_GT(left, 0);
    EXPECT_EQ(w.pad_before + left + w.pad_after - (w.taps - 1) * w.dilation, size.steps());
    for (int64_t j = 0; j < size.steps(); ++j) {
      for (int64_t t = 0; t < w.taps; ++t) {
        const int64_t i = j + t * w.dilation - w.pad_before, o = f + j * size.stride;
        const int64_t k = phase.KernelTap(t);
        if (k < 0 || i < 0 || i >= left || o >= size.out) continue;
        EXPECT_TRUE(products.emplace(o, i + w.cut_before, k).second);
      }
    }
  }
  return products;
}

TEST(ConvPhasesTest, TwiceTheSizeIsTwoTapsAPhase) {
  // The kernel of 4, stride 2 and pad 1 that doubles an image.
  const std::vector<Phase> phases =
      Phases({.in = 5, .out = 10, .kernel = 4, .stride = 2, .pad = 1});
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[0].window, (PhaseWindow{.taps = 2, .pad_before = 1}));
  EXPECT_EQ(phases[1].window, (PhaseWindow{.taps = 2, .pad_after = 1}));
  EXPECT_EQ(phases[0].first_tap, 3);  // then 1
  EXPECT_EQ(phases[1].first_tap, 2);  // then 0
}

TEST(ConvPhasesTest, ProductsAreThoseOfTheDefinition) {
  std::mt19937 random(7);
  const auto pick = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  int empty = 0, cut = 0, one = 0;
  for (int i = 0; i < 20000; ++i) {
    TransposedSize size{.in = pick(1, 9),
                        .kernel = pick(1, 7),
                        .stride = pick(1, 7),
                        .dilation = pick(1, 4),
                        .pad = pick(0, 25)};
    const int64_t full = (size.in - 1) * size.stride + (size.kernel - 1) * size.dilation + 1;
    size.out = full - size.pad - pick(0, 6) + pick(0, 6);
    if (size.out < 1) continue;
    const std::vector<Phase> phases = Phases(size), wide = UnderOneWindow(phases, size);
    SCOPED_TRACE(testing::Message() << "in " << size.in << ", out " << size.out << ", kernel "
                                    << size.kernel << ", stride " << size.stride << ", dilation "
                                    << size.dilation << ", pad " << size.pad);
    ASSERT_EQ(ByPhases(size, phases), ByDefinition(size));
    ASSERT_EQ(ByPhases(size, wide), ByDefinition(size));
    one += size.stride > 1 && wide.front().window == wide.back().window;
    for (const Phase& phase : phases) {
      empty += phase.own == 0;
      cut += phase.window.cut_before + phase.window.cut_after > 0;
    }
  }
  EXPECT_GT(empty, 1000);
  EXPECT_GT(cut, 1000);
  EXPECT_GT(one, 1000);
}

// --- DividePhases

std::vector<Phase> PhasesOfTaps(std::initializer_list<int64_t> taps) {
  std::vector<Phase> phases;
  for (int64_t count : taps) phases.push_back({.window = {.taps = count}});
  return phases;
}

using Part = std::tuple<int64_t, int64_t, int64_t, int64_t>;

std::vector<Part> PartsOf(const std::vector<Phase>& rows, const std::vector<Phase>& columns,
                          bool together) {
  std::vector<Part> parts;
  for (const PhasePart& part : DividePhases(rows, columns, together)) {
    parts.emplace_back(part.rows.first, part.rows.count, part.columns.first, part.columns.count);
  }
  return parts;
}

TEST(DividePhasesTest, OnePartWhereAllWindowsAreTheSame) {
  EXPECT_EQ(PartsOf(PhasesOfTaps({1, 1}), PhasesOfTaps({2, 2, 2}), true),
            (std::vector<Part>{{0, 2, 0, 3}}));
}

TEST(DividePhasesTest, BlocksOfPartsFollowEachOtherInRowMajorOrder) {
  EXPECT_EQ(PartsOf(PhasesOfTaps({1, 1}), PhasesOfTaps({1, 2, 2}), true),
            (std::vector<Part>{{0, 1, 0, 1}, {0, 1, 1, 2}, {1, 1, 0, 1}, {1, 1, 1, 2}}));
  EXPECT_EQ(PartsOf(PhasesOfTaps({1, 1, 3}), PhasesOfTaps({2, 2}), true),
            (std::vector<Part>{{0, 2, 0, 2}, {2, 1, 0, 2}}));
}

TEST(DividePhasesTest, EachPhaseForItself) {
  EXPECT_EQ(PartsOf(PhasesOfTaps({1, 1}), PhasesOfTaps({2}), false),
            (std::vector<Part>{{0, 1, 0, 1}, {1, 1, 0, 1}}));
}

// --- PlanPhases: the kernel of 4, stride 2 and pad 1

size_t PartsFor(int64_t groups, int64_t ic, int64_t oc, const std::optional<ConvForms>& forms) {
  const TransposedSize size{.in = 5, .out = 10, .kernel = 4, .stride = 2, .pad = 1};
  return PlanPhases(size, size, groups, ic, oc, forms).parts.size();
}

TEST(PlanPhasesTest, FewOutputChannelsShareAWindow) {
  EXPECT_EQ(PartsFor(1, 64, 3, ConvForms{}), 1u);
  EXPECT_EQ(PartsFor(1, 64, 64, ConvForms{}), 4u);
  EXPECT_EQ(PartsFor(3, 3, 3, ConvForms{}), 4u);
}

TEST(PlanPhasesTest, TheTargetsCostsDecide) {
  ConvForms dear_ends;
  dear_ends.narrow_end = dear_ends.panel_end = 100000;
  EXPECT_EQ(PartsFor(1, 64, 16, ConvForms{}), 4u);
  EXPECT_EQ(PartsFor(1, 64, 16, dear_ends), 1u);
}

TEST(PlanPhasesTest, WithoutFormsOnlyTheSameWindowsAreTogether) {
  EXPECT_EQ(PartsFor(1, 64, 3, std::nullopt), 4u);
  const TransposedSize size{.in = 5, .out = 10, .kernel = 2, .stride = 2};
  EXPECT_EQ(PlanPhases(size, size, 1, 64, 3, std::nullopt).parts.size(), 1u);
}

TEST(PlanPhasesTest, ThousandsOfWindowsBecomeOne) {
  // Every other phase has a tap: 64 windows a dimension that are not the same.
  const TransposedSize size{.in = 3, .out = 192, .kernel = 64, .stride = 64, .dilation = 2};
  ASSERT_GT(DividePhases(Phases(size), Phases(size), true).size(), 1024u);
  for (const std::optional<ConvForms>& forms : {std::optional<ConvForms>(), {ConvForms{}}}) {
    EXPECT_LE(PlanPhases(size, size, 1, 512, 512, forms).parts.size(), 1024u);
  }
}

}  // namespace
}  // namespace rshift
