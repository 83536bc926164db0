#include "pipeline/box_agreement.h"

#include <gtest/gtest.h>

namespace rshift::test {
namespace {

const Box kUnit{{0, 0, 1, 1}, 0.9f, 3};

TEST(BoxAgreementTest, TheSameBoxesAreAllMatched) {
  const std::vector<Box> boxes = {kUnit, {{2, 2, 3, 4}, 0.5f, 1}};
  EXPECT_EQ(MatchBoxes(boxes, boxes), (BoxAgreement{2, 2, 2}));
}

TEST(BoxAgreementTest, HalfOfTheUnionIsEnough) {
  EXPECT_EQ(MatchBoxes({{{0, 0, 1, 0.5f}, 1, 3}}, {kUnit}).matched, 1);
  EXPECT_EQ(MatchBoxes({{{0, 0, 1, 0.49f}, 1, 3}}, {kUnit}).matched, 0);
  EXPECT_EQ(MatchBoxes({{{0, 1, 1, 2}, 1, 3}}, {kUnit}).matched, 0);  // side by side
}

TEST(BoxAgreementTest, AnotherClassIsNoPartner) {
  EXPECT_EQ(MatchBoxes({{{0, 0, 1, 1}, 1, 4}}, {kUnit}), (BoxAgreement{1, 1, 0}));
}

TEST(BoxAgreementTest, TheBestScoreChoosesFirstAndWhatItOverlapsMost) {
  // Both of `found` overlap the first of `wanted`; the one with the better score overlaps the
  // second more and leaves the first to the other.
  const std::vector<Box> wanted = {{{0, 0, 1, 1}, 1, 0}, {{0, 0.2f, 1, 1.2f}, 1, 0}};
  const std::vector<Box> found = {{{0, 0, 1, 0.8f}, 0.3f, 0}, {{0, 0.15f, 1, 1.15f}, 0.8f, 0}};
  EXPECT_EQ(MatchBoxes(found, wanted).matched, 2);
  // A partner is taken once.
  EXPECT_EQ(MatchBoxes({kUnit, kUnit}, {kUnit}), (BoxAgreement{1, 2, 1}));
}

TEST(BoxAgreementTest, BoxesWithoutAnAreaHaveNoPartner) {
  const Box empty{{1, 1, 0, 0}, 1, 3};
  EXPECT_EQ(MatchBoxes({empty}, {empty}).matched, 0);
}

TEST(BoxAgreementTest, SharesOfSeveralPictures) {
  BoxAgreement sum = MatchBoxes({kUnit, {{5, 5, 6, 6}, 1, 0}}, {kUnit});
  sum.Add(MatchBoxes({}, {kUnit, kUnit, kUnit}));
  EXPECT_EQ(sum.unmatched(), 4);
  EXPECT_EQ(sum.recall(), 0.25);
  EXPECT_EQ(sum.precision(), 0.5);
  EXPECT_EQ(sum.least(), 0.25);
  EXPECT_EQ(BoxesText(sum), "recall 0.250 (1 of 4 boxes), precision 0.500");
  EXPECT_EQ(BoxAgreement{}.least(), 1);  // nothing wanted, nothing found
}

}  // namespace
}  // namespace rshift::test
