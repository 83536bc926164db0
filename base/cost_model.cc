#include "base/cost_model.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "base/number_text.h"

namespace rshift {
namespace {

using M = CostModel;
constexpr std::array kKeys = {
    CostKey{"conv_macs_per_ns", &M::conv_macs_per_ns},
    CostKey{"depthwise_macs_per_ns", &M::depthwise_macs_per_ns},
    CostKey{"matmul_macs_per_ns", &M::matmul_macs_per_ns},
    CostKey{"f32_macs_per_ns", &M::f32_macs_per_ns},
    CostKey{"l2_kib", &M::l2_kib},
    CostKey{"l3_kib", &M::l3_kib},
    CostKey{"l2_bytes_per_ns", &M::l2_bytes_per_ns},
    CostKey{"l3_bytes_per_ns", &M::l3_bytes_per_ns},
    CostKey{"dram_bytes_per_ns", &M::dram_bytes_per_ns},
    CostKey{"requant_ns", &M::requant_ns},
    CostKey{"f32_element_ns", &M::f32_element_ns},
    CostKey{"command_ns", &M::command_ns},
};
static_assert(sizeof(CostModel) == kKeys.size() * sizeof(double), "a constant without a name");

void ReadOne(std::string_view item, const std::string& where, CostModel* model) {
  const size_t equals = item.find('=');
  double* value = equals == item.npos ? nullptr : FindCost(model, item.substr(0, equals));
  RSHIFT_REQUIRE(value != nullptr, ErrorCode::kCorrupt, where, ": cost model: '", item,
                 "' is not NAME=NUMBER with a name among ", CostKeyNames());
  const char* end = item.data() + item.size();
  const auto [at, error] = std::from_chars(item.data() + equals + 1, end, *value);
  RSHIFT_REQUIRE(error == std::errc() && at == end && IsCost(*value), ErrorCode::kCorrupt, where,
                 ": cost model: '", item, "': expected a number > 0 and <= 1e9");
}

}  // namespace

std::span<const CostKey> CostKeys() { return kKeys; }

std::string CostKeyNames() {
  std::string names;
  for (const CostKey& key : kKeys) names += (names.empty() ? "" : ", ") + std::string(key.name);
  return names;
}

double* FindCost(CostModel* model, std::string_view name) {
  for (const CostKey& key : kKeys) {
    if (name == key.name) return &(model->*key.value);
  }
  return nullptr;
}

bool IsCost(double value) { return value > 0 && value <= 1e9; }

std::string ToText(const CostModel& model) {
  std::string text;
  for (const CostKey& key : kKeys) {
    text +=
        (text.empty() ? "" : " ") + std::string(key.name) + "=" + ShortestText(model.*key.value);
  }
  return text;
}

CostModel ReadCostModel(std::string_view text, const std::string& where) {
  CostModel model;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    ReadOne(text.substr(0, end), where, &model);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return model;
}

}  // namespace rshift
