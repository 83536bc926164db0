#include "pipeline/paired_choice.h"

#include <gtest/gtest.h>

namespace rshift {
namespace {

TEST(PairedChoiceTest, ABetterMeanBeyondChanceWins) {
  EXPECT_EQ(FirstAsGoodAsTheBest({{30, 20, 25}, {31, 21.1, 25.9}}), 1u);
}

TEST(PairedChoiceTest, WhatMayBeChanceLeavesTheFirst) {
  // One sample of three gains much, two lose: mean 1.1, standard error 2.0.
  EXPECT_EQ(FirstAsGoodAsTheBest({{30, 20, 25}, {29.5, 25, 24}}), 0u);
}

TEST(PairedChoiceTest, SamplesArePairedThoughTheyDiffer) {
  // Ways differ by far less than samples do, but always in the same direction.
  EXPECT_EQ(FirstAsGoodAsTheBest({{60, 10, 35, 20}, {60.3, 10.3, 35.2, 20.3}, {59, 9, 34, 19}}),
            1u);
}

TEST(PairedChoiceTest, OneSampleHasNoError) {
  EXPECT_EQ(FirstAsGoodAsTheBest({{30}, {30.1}}), 1u);
  EXPECT_EQ(FirstAsGoodAsTheBest({{30}, {30}}), 0u);
  EXPECT_EQ(FirstAsGoodAsTheBest({{}, {}}), 0u);
}

TEST(PairedChoiceTest, Means) {
  EXPECT_EQ(Mean(std::vector<double>{1, 2, 6}), 3);
  EXPECT_EQ(Mean({}), 0);
}

}  // namespace
}  // namespace rshift
