#include "base/cost_model.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "base/error.h"
#include "tests/base/error_of.h"

namespace rshift {
namespace {

std::string MessageOf(const std::string& text) {
  return ErrorOf(ErrorCode::kCorrupt, [&] { ReadCostModel(text, "net.rshift"); });
}

TEST(CostModel, EveryConstantSurvivesItsText) {
  CostModel model;
  double value = 0.1;
  std::set<std::string> names;
  for (const CostKey& key : CostKeys()) {
    model.*key.value = value /= 0.7;
    names.insert(key.name);
    EXPECT_NE(ToText(model).find(std::string(key.name) + "="), std::string::npos);
  }
  EXPECT_EQ(names.size(), CostKeys().size());
  EXPECT_EQ(ReadCostModel(ToText(model), ""), model);
  EXPECT_NE(model, CostModel{});
}

TEST(CostModel, WhatIsNotThereKeepsItsDefault) {
  EXPECT_EQ(ReadCostModel("", ""), CostModel{});
  CostModel model;
  *FindCost(&model, "requant_ns") = 7;
  EXPECT_EQ(ReadCostModel("requant_ns=7", ""), model);
}

TEST(CostModel, AnythingElseIsRefusedByName) {
  for (const char* text : {"warp_ns=1", "requant_ns", "requant_ns=", "requant_ns=0",
                           "requant_ns=-1", "requant_ns=nan", "requant_ns=inf", "requant_ns=1e10",
                           "requant_ns=1x", "requant_ns=1  command_ns=1", " requant_ns=1", "=1"}) {
    EXPECT_NE(MessageOf(text).find("net.rshift: cost model"), std::string::npos) << text;
  }
  EXPECT_NE(MessageOf("command_ns=5 warp_ns=1").find("'warp_ns=1'"), std::string::npos);
}

TEST(CostModel, ConstantsArePositiveAndFinite) {
  EXPECT_TRUE(IsCost(1e-6) && IsCost(1e9));
  EXPECT_FALSE(IsCost(0) || IsCost(-1) || IsCost(2e9));
  EXPECT_FALSE(IsCost(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace
}  // namespace rshift
