#include "base/union_find.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace rshift {
namespace {

TEST(UnionFind, EachNumberIsASetOfItsOwn) {
  UnionFind sets(2);
  EXPECT_EQ(sets.Add(3), 2u);
  EXPECT_EQ(sets.Add(0), 5u);
  EXPECT_EQ(sets.size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(sets.Find(i), i);
}

TEST(UnionFind, TheLeadersRepresentativeStays) {
  UnionFind sets(6);
  sets.Join(3, 5);
  EXPECT_EQ(sets.Find(5), 3u);
  sets.Join(1, 0);
  sets.Join(5, 0);
  for (const size_t i : {0, 1, 3, 5}) EXPECT_EQ(sets.Find(i), 3u);
  sets.Join(0, 3);  // together already
  EXPECT_EQ(sets.Find(0), 3u);
  EXPECT_EQ(sets.Find(4), 4u);
}

// Against a list of labels; representatives too, and with and without shortened ways.
TEST(UnionFind, AgreesWithLabels) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    UnionFind sets;
    std::vector<size_t> label;
    for (int step = 0; step < 200; ++step) {
      if (label.size() < 2 || random() % 3 == 0) {
        const size_t more = random() % 4;
        for (size_t i = 0; i < more; ++i) label.push_back(label.size());
        sets.Add(more);
      } else {
        const size_t a = random() % label.size(), b = random() % label.size();
        const size_t kept = label[a], gone = label[b];
        for (size_t& l : label) l = l == gone ? kept : l;
        sets.Join(a, b);
      }
    }
    const UnionFind& fixed = sets;
    for (size_t i = 0; i < label.size(); ++i) EXPECT_EQ(fixed.Find(i), label[i]);
    for (size_t i = 0; i < label.size(); ++i) EXPECT_EQ(sets.Find(i), label[i]);
    for (size_t i = 0; i < label.size(); ++i) EXPECT_EQ(fixed.Find(i), label[i]);
  }
}

}  // namespace
}  // namespace rshift
