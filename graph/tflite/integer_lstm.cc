#include "graph/tflite/integer_lstm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "graph/tflite/tensor_types.h"

namespace rshift::tflite {
namespace {

// Inputs; weights, biases and coefficients of normalization have one for each gate.
constexpr int kXInput = 0, kWeightInput = 1, kRecurrenceInput = 5, kPeepholeInput = 9,
              kBiasInput = 12, kStateInput = 18, kCellInput = 19, kNormalizationInput = 20;
constexpr int kLstmGates = 4, kForgetIndex = 1;
constexpr size_t kHiddenIntermediate =
    4;  // of the intermediates: the product of output gate and tanh
constexpr float kUnitOfGate = 0x1p-12f;

bool HasOneScale(const Tensor& tensor, TensorType type) {
  if (tensor.type() != type || !IsQuantized(tensor) || ScalesOf(tensor).size() != 1) return false;
  const float scale = ScalesOf(tensor)[0];
  return std::isfinite(scale) && scale > 0;
}

bool HoldsBytes(const Tensor& tensor) {
  const bool bytes = HasOneScale(tensor, TensorType_INT8);
  return bytes && ZeroPointOf(tensor) >= INT8_MIN && ZeroPointOf(tensor) <= INT8_MAX;
}

float ScaleOf(const Tensor& tensor) { return ScalesOf(tensor)[0]; }

// Bits of the fraction of a state whose unit is a power of two; 0 where it is another one.
int64_t StateBitsOf(float scale) {
  int exponent = 0;
  return std::frexp(scale, &exponent) == 0.5f ? 1 - exponent : 0;
}

// Without an input gate it is the forget gate's complement.
bool HasGate(const OpWriter& op, int first, int gate) { return op.HasInput(first + gate); }

bool HasIntegerGates(const OpWriter& op) {
  for (int gate = 0; gate < kLstmGates; ++gate) {
    const bool has = HasGate(op, kWeightInput, gate);
    if (!has && gate >= kForgetIndex) return false;
    if (has != HasGate(op, kRecurrenceInput, gate) || has != HasGate(op, kBiasInput, gate))
      return false;
    if (!has) continue;
    for (const int i : {kWeightInput + gate, kRecurrenceInput + gate}) {
      if (!op.IsConstant(i) || !HasOneScale(op.In(i), TensorType_INT8)) return false;
      if (ZeroPointOf(op.In(i)) != 0 || op.InRank(i) != 2) return false;
    }
    const int bias = kBiasInput + gate;
    if (!op.IsConstant(bias) || op.In(bias).type() != TensorType_INT32) return false;
  }
  return true;
}

bool IsIntegerLstm(const OpWriter& op) {
  if (!HoldsBytes(op.In(kXInput)) || op.IsConstant(kXInput) || !HoldsBytes(op.Out()) ||
      !HasIntegerGates(op))
    return false;
  if (op.HasInput(kPeepholeInput + kForgetIndex) || op.HasInput(kNormalizationInput + kForgetIndex))
    return false;
  if (!op.HasInput(kCellInput) || !op.In(kCellInput).is_variable()) return false;
  const Tensor& cell = op.In(kCellInput);
  if (!HoldsBytes(op.In(kStateInput)) || !HasOneScale(cell, TensorType_INT16)) return false;
  constexpr int64_t kLeastBits = 9, kMostBits = 15;  // of which TensorFlow Lite has the tanh
  const int64_t bits = StateBitsOf(ScaleOf(cell));
  if (ZeroPointOf(cell) != 0 || bits < kLeastBits || bits > kMostBits) return false;
  // From 2^-30 on the output is a division of the product. The result is the hidden bytes as they
  // are; its own scale and the state's count for whoever reads them.
  const Tensor* hidden = op.Intermediate(kHiddenIntermediate);
  return hidden != nullptr && HoldsBytes(*hidden) && ScaleOf(*hidden) > 0x1p-30f &&
         ZeroPointOf(*hidden) == ZeroPointOf(op.Out());
}

// As TensorFlow Lite takes it: binary32, towards zero.
int64_t ClipOf(float cell_clip, float cell_scale) {
  if (!(cell_clip > 0)) return 0;
  return static_cast<int64_t>(std::min(cell_clip / cell_scale, 32767.0f));
}

}  // namespace

bool GiveIntegerLstm(OpWriter& op, float cell_clip, bool time_major) {
  if (!IsIntegerLstm(op)) return false;
  const float x_scale = ScaleOf(op.In(kXInput)), state_scale = ScaleOf(op.In(kStateInput));
  Names weights, recurrence, biases;
  std::vector<float> first, second;
  for (int gate = 0; gate < kLstmGates; ++gate) {
    if (!HasGate(op, kWeightInput, gate)) continue;
    weights.push_back(op.Stored(kWeightInput + gate));
    recurrence.push_back(op.Stored(kRecurrenceInput + gate));
    biases.push_back(op.Stored(kBiasInput + gate));
    first.push_back(ScaleOf(op.In(kWeightInput + gate)) * x_scale / kUnitOfGate);
    second.push_back(ScaleOf(op.In(kRecurrenceInput + gate)) * state_scale / kUnitOfGate);
  }
  const auto together = [&](const Names& parts) {
    return op.Emit("Concat", parts, {{"axis", int64_t{0}}});
  };
  const Names inputs = {op.Stored(kXInput), together(weights), together(recurrence),
                        together(biases)};
  const Tensor &hidden = *op.Intermediate(kHiddenIntermediate), &cell = op.In(kCellInput);
  const auto product = static_cast<float>(0x1p-15 / static_cast<double>(ScaleOf(hidden)) * 0x1p-15);
  op.GiveStored(op.EmitOwn("IntegerLstm", inputs,
                           {{"time_major", int64_t{time_major}},
                            {"first_scales", first},
                            {"second_scales", second},
                            {"state_bits", StateBitsOf(ScaleOf(cell))},
                            {"clip", ClipOf(cell_clip, ScaleOf(cell))},
                            {"output_scale", product},
                            {"state_zero", ZeroPointOf(op.In(kStateInput))},
                            {"x_scale", x_scale},
                            {"x_zero", ZeroPointOf(op.In(kXInput))},
                            {"y_scale", ScaleOf(op.Out())},
                            {"y_zero", ZeroPointOf(op.Out())}}));
  return true;
}

}  // namespace rshift::tflite
