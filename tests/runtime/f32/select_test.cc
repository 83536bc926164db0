// NonMaxSuppression, NonZero and Unique against the plainest way to compute them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Suppression {
  int64_t batches, classes, boxes, most;
  float iou, score;
  bool center, threshold;
};

// In double; the corners of box i.
std::array<double, 4> Corners(const std::vector<float>& boxes, int64_t i, bool center) {
  const float* b = boxes.data() + 4 * i;
  if (center) return {b[0] - b[2] / 2.0, b[1] - b[3] / 2.0, b[0] + b[2] / 2.0, b[1] + b[3] / 2.0};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

double Iou(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  const double h = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const double w = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (h <= 0 || w <= 0) return 0;
  const auto area = [](const auto& c) { return (c[2] - c[0]) * (c[3] - c[1]); };
  return h * w / (area(a) + area(b) - h * w);
}

std::vector<int64_t> Suppressed(const Suppression& s, const std::vector<float>& boxes,
                                const std::vector<float>& scores) {
  const int64_t rows = s.batches * s.classes * std::min(s.most, s.boxes);
  std::vector<int64_t> want = {0, 0, 0};
  for (int64_t row = 0; row < s.batches * s.classes; ++row) {
    const int64_t batch = row / s.classes;
    std::vector<int64_t> left, kept;
    for (int64_t i = 0; i < s.boxes; ++i) {
      if (!s.threshold || scores[row * s.boxes + i] > s.score) left.push_back(i);
    }
    std::stable_sort(left.begin(), left.end(), [&](int64_t a, int64_t b) {
      return scores[row * s.boxes + a] > scores[row * s.boxes + b];
    });
    for (int64_t i : left) {
      if (static_cast<int64_t>(kept.size()) >= s.most) break;
      const auto box = Corners(boxes, batch * s.boxes + i, s.center);
      const bool hidden = std::any_of(kept.begin(), kept.end(), [&](int64_t other) {
        return Iou(box, Corners(boxes, batch * s.boxes + other, s.center)) > s.iou;
      });
      if (hidden) continue;
      kept.push_back(i);
      want.insert(want.end(), {batch, row % s.classes, i});
      ++want[0];
    }
  }
  want.resize(static_cast<size_t>(3 * (1 + rows)), 0);
  return want;
}

TEST(NonMaxSuppressionTest, RandomBoxes) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto pick = [&](int64_t lo, int64_t hi) {
      return std::uniform_int_distribution<int64_t>(lo, hi)(random);
    };
    const Suppression s{pick(0, 2), pick(1, 4),        pick(0, 40),     pick(0, 12),
                        0.35f,      pick(0, 1) * 0.5f, pick(0, 1) == 1, pick(0, 1) == 1};
    TestTensor boxes = RandomFloats({s.batches, s.boxes, 4}, random, 0.05f, 1.0f);
    std::vector<float> scores(static_cast<size_t>(s.batches * s.classes * s.boxes));
    for (float& score : scores) score = static_cast<float>(pick(0, 20)) / 20.0f;  // many are equal
    const std::vector<int64_t> want = Suppressed(s, boxes.As<float>(), scores);
    CommandCase test(Opcode::kNonMaxSuppression,
                     {{Field::kSrc, boxes},
                      {Field::kSrc2, Make<float>({s.batches, s.classes, s.boxes}, scores)}},
                     DType::kS64, {static_cast<int64_t>(want.size()) / 3, 3});
    test.Set(Field::kCount, s.most).Set(Field::kFlags, (s.center ? 1 : 0) + (s.threshold ? 2 : 0));
    test.SetFloat(Field::kAlphaF, s.iou).SetFloat(Field::kBetaF, s.score);
    EXPECT_EQ(RunOnAnyThreads(test).As<int64_t>(), want);
  }
}

TEST(NonMaxSuppressionTest, NumbersThatAreNoScoresOrBoxes) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = INFINITY;
  // The first is no score; the second has no area and hides none; NaN corners overlap nothing.
  CommandCase test(Opcode::kNonMaxSuppression,
                   {{Field::kSrc, Make<float>({1, 4, 4}, {0, 0, 1, 1, 0, 0, 0, 1,  //
                                                          nan, 0, 1, 1, -inf, 0, inf, 1})},
                    {Field::kSrc2, Make<float>({1, 1, 4}, {nan, 3, 2, 1})}},
                   DType::kS64, {5, 3});
  test.Set(Field::kCount, 4).SetFloat(Field::kAlphaF, 0.5f);
  EXPECT_THAT(RunOnAnyThreads(test).As<int64_t>(),
              ElementsAre(3, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0));
}

TEST(NonZeroTest, EveryType) {
  const auto check = [](const TestTensor& src) {
    CommandCase test(Opcode::kNonZero, {{Field::kSrc, src}}, DType::kS64, {7});
    EXPECT_THAT(RunOnAnyThreads(test).As<int64_t>(), ElementsAre(3, 1, 2, 5, 0, 0, 0));
  };
  check(Make<float>({2, 3}, {0.0f, -1e-30f, NAN, -0.0f, 0.0f, 3.0f}));
  check(Make<int8_t>({6}, {0, -1, 1, 0, 0, 3}));
  check(Make<uint8_t>({1, 6}, {0, 255, 1, 0, 0, 3}));
  check(Make<int32_t>({6}, {0, 1 << 30, 1, 0, 0, 3}));
  check(Make<int64_t>({6}, {0, int64_t{1} << 40, 1, 0, 0, 3}));
  check(BoolTensor({3, 2}, {0, 1, 1, 0, 0, 1}));
}

// The places of a row's elements in the order of TopK, the first k of them.
template <typename T>
std::vector<int64_t> BestPlaces(const std::vector<T>& values, int64_t rows, int64_t k,
                                bool smallest) {
  const int64_t n = static_cast<int64_t>(values.size()) / rows;
  std::vector<int64_t> want;
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<int64_t> numbers, others;  // others: NaN
    for (int64_t i = 0; i < n; ++i)
      (values[r * n + i] == values[r * n + i] ? numbers : others).push_back(i);
    std::stable_sort(numbers.begin(), numbers.end(), [&](int64_t a, int64_t b) {
      const T x = values[r * n + a], y = values[r * n + b];
      return smallest ? x < y : y < x;
    });
    numbers.insert(numbers.end(), others.begin(), others.end());
    want.insert(want.end(), numbers.begin(), numbers.begin() + k);
  }
  return want;
}

template <typename T>
void CheckTopK(uint32_t seed) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto pick = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  const int64_t rows = pick(1, 5), n = pick(1, 300), k = pick(0, 2) == 0 ? n : pick(0, n);
  std::vector<T> values(static_cast<size_t>(rows * n));
  for (T& value : values) {
    value = static_cast<T>(pick(0, 60));  // many are equal
    if constexpr (std::is_same_v<T, float>) {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      const int64_t kind = pick(0, 40);
      if (kind < 4) value = std::array{NAN, kInfinity, -kInfinity, -0.0f}[kind];
    }
  }
  const bool smallest = pick(0, 1) == 1;
  CommandCase test(Opcode::kTopK, {{Field::kSrc, Make<T>({rows, n}, values)}}, DType::kS64,
                   {rows, k});
  test.Set(Field::kFlags, smallest ? 1 : 0);
  EXPECT_EQ(RunOnAnyThreads(test).template As<int64_t>(), BestPlaces(values, rows, k, smallest));
}

TEST(TopKTest, RandomRowsOfEveryType) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    CheckTopK<float>(seed);
    CheckTopK<int8_t>(seed);
    CheckTopK<uint8_t>(seed);
    CheckTopK<int32_t>(seed);
    CheckTopK<int64_t>(seed);
  }
}

TEST(TopKTest, MoreThanThereAreIsRefused) {
  CommandCase test(Opcode::kTopK, {{Field::kSrc, Make<float>({1, 3}, {1, 2, 3})}}, DType::kS64,
                   {1, 4});
  EXPECT_THAT(ErrorOf(test), HasSubstr("expected 1 rows of at most 3 elements"));
}

template <typename T>
std::vector<int64_t> Distinct(const std::vector<T>& values, int64_t rows, bool sorted) {
  const int64_t width = static_cast<int64_t>(values.size()) / rows;
  std::map<std::vector<T>, std::vector<int64_t>> groups;
  for (int64_t r = 0; r < rows; ++r)
    groups[{values.begin() + r * width, values.begin() + (r + 1) * width}].push_back(r);
  std::vector<std::vector<int64_t>> members;
  for (const auto& [key, list] : groups) members.push_back(list);
  if (!sorted) std::sort(members.begin(), members.end());
  std::vector<int64_t> want(static_cast<size_t>(1 + 3 * rows), 0);
  want[0] = static_cast<int64_t>(members.size());
  for (size_t g = 0; g < members.size(); ++g) {
    want[1 + g] = members[g][0];
    want[static_cast<size_t>(1 + 2 * rows) + g] = static_cast<int64_t>(members[g].size());
    for (int64_t r : members[g]) want[static_cast<size_t>(1 + rows + r)] = static_cast<int64_t>(g);
  }
  return want;
}

template <typename T>
void CheckUnique(int64_t rows, int64_t width, bool sorted, uint32_t seed) {
  SCOPED_TRACE(::testing::Message() << Name(DTypeOf<T>()) << " " << rows << "x" << width
                                    << " sorted " << sorted << " seed " << seed);
  std::mt19937 random(seed);
  std::vector<T> values(static_cast<size_t>(rows * width));
  for (T& value : values) value = static_cast<T>(random() % 4);
  CommandCase test(Opcode::kUnique, {{Field::kSrc, Make<T>({rows, width}, values)}}, DType::kS64,
                   {1 + 3 * rows});
  test.Set(Field::kFlags, sorted ? 1 : 0);
  EXPECT_EQ(RunOnAnyThreads(test).template As<int64_t>(), Distinct(values, rows, sorted));
}

TEST(UniqueTest, RowsOfEveryType) {
  for (const bool sorted : {false, true}) {
    for (uint32_t seed = 1; seed <= 4; ++seed) {
      CheckUnique<float>(seed * 9, seed, sorted, seed);
      CheckUnique<int8_t>(seed * 9, seed, sorted, seed);
      CheckUnique<uint8_t>(seed * 9, seed, sorted, seed);
      CheckUnique<int32_t>(seed * 9, seed, sorted, seed);
      CheckUnique<int64_t>(seed * 9, seed, sorted, seed);
    }
  }
}

TEST(UniqueTest, NansAreOneNumber) {
  CommandCase test(Opcode::kUnique, {{Field::kSrc, Make<float>({4, 1}, {NAN, 2, NAN, -1})}},
                   DType::kS64, {13});
  test.Set(Field::kFlags, 1);
  EXPECT_THAT(RunOnAnyThreads(test).As<int64_t>(),
              ElementsAre(3, 3, 1, 0, 0, 2, 1, 2, 0, 1, 1, 2, 0));
}

TEST(SelectTest, TheVerifierRefusesListsThatAreTooShort) {
  const TestTensor boxes = Make<float>({1, 2, 4}, std::vector<float>(8)),
                   scores = Make<float>({1, 3, 2}, std::vector<float>(6));
  const auto suppression = [&](const TestTensor& a, const TestTensor& b, const Shape& dst) {
    CommandCase test(Opcode::kNonMaxSuppression, {{Field::kSrc, a}, {Field::kSrc2, b}}, DType::kS64,
                     dst);
    return ErrorOf(test.Set(Field::kCount, 9));
  };
  EXPECT_EQ(suppression(boxes, scores, {7, 3}), kNoError);
  EXPECT_THAT(suppression(boxes, scores, {6, 3}), HasSubstr("dst"));
  EXPECT_THAT(suppression(boxes, scores, {21}), HasSubstr("dst"));
  EXPECT_THAT(suppression(scores, scores, {7, 3}), HasSubstr("batches x boxes x 4"));
  EXPECT_THAT(suppression(boxes, Make<float>({1, 2, 3}, std::vector<float>(6)), {7, 3}),
              HasSubstr("expected 1 batches x classes x 2 boxes"));
  EXPECT_THAT(ErrorOf(CommandCase(Opcode::kNonZero, {{Field::kSrc, boxes}}, DType::kS64, {8})),
              HasSubstr("dst"));
  EXPECT_THAT(ErrorOf(CommandCase(Opcode::kNonZero, {{Field::kSrc, boxes}}, DType::kS32, {9})),
              HasSubstr("dst"));
  const TestTensor rows = Make<float>({2, 4}, std::vector<float>(8));
  EXPECT_EQ(ErrorOf(CommandCase(Opcode::kUnique, {{Field::kSrc, rows}}, DType::kS64, {7})),
            kNoError);
  EXPECT_THAT(ErrorOf(CommandCase(Opcode::kUnique, {{Field::kSrc, rows}}, DType::kS64, {6})),
              HasSubstr("dst"));
  EXPECT_THAT(ErrorOf(CommandCase(Opcode::kUnique, {{Field::kSrc, boxes}}, DType::kS64, {7})),
              HasSubstr("rows x elements"));
}

}  // namespace
}  // namespace rshift
