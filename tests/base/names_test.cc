#include "base/names.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>

namespace rshift {
namespace {

TEST(MatchesGlobTest, StarsStandForAnyCharactersAndQuestionMarksForOne) {
  EXPECT_TRUE(MatchesGlob("conv_*", "conv_"));
  EXPECT_TRUE(MatchesGlob("conv_*", "conv_1/relu"));
  EXPECT_FALSE(MatchesGlob("conv_*", "my_conv_1"));
  EXPECT_TRUE(MatchesGlob("*/attn/*_proj", "l0/attn/q_proj"));
  EXPECT_TRUE(MatchesGlob("**", ""));
  EXPECT_TRUE(MatchesGlob("a?c", "abc"));
  EXPECT_FALSE(MatchesGlob("a?c", "ac"));
  EXPECT_FALSE(MatchesGlob("", "a"));
  EXPECT_TRUE(MatchesGlob("a.b[0]", "a.b[0]"));  // nothing else is special
  EXPECT_FALSE(MatchesGlob("a.b[0]", "a+b0"));
}

TEST(MatchesGlobTest, AgreesWithRegularExpressionsOnRandomNames) {
  std::mt19937 random(7);
  const auto text = [&](const char* letters, int count) {
    std::string result;
    for (int n = static_cast<int>(random() % 9); n > 0; --n) result += letters[random() % count];
    return result;
  };
  int matched = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string pattern = text("ab*?", 4), name = text("ab", 2);
    std::string expression;
    for (char c : pattern) expression += c == '*' ? ".*" : c == '?' ? "." : std::string(1, c);
    const bool expected = std::regex_match(name, std::regex(expression));
    matched += expected;
    EXPECT_EQ(MatchesGlob(pattern, name), expected) << pattern << " on " << name;
  }
  EXPECT_GT(matched, 200);
}

TEST(MatchesGlobTest, ManyStarsAreQuick) {
  std::string pattern;
  for (int i = 0; i < 500; ++i) pattern += "*a";
  EXPECT_FALSE(MatchesGlob(pattern + "b", std::string(20000, 'a')));
}

TEST(CloseNamesTest, NearestFirstAndAtMostThree) {
  const std::set<std::string> names = {"conv1", "conv2", "conv10", "relu", "layer/conv1/out"};
  EXPECT_EQ(CloseNames(names, "conv3"), "'conv1', 'conv2', 'conv10'");
  EXPECT_EQ(CloseNames(names, "rleu"), "'relu'");
  EXPECT_EQ(CloseNames(names, "softmax_of_attention"), "");
  EXPECT_EQ(CloseNames({"verify", "memory"}, "verfy"), "'verify'");
}

}  // namespace
}  // namespace rshift
