// Quantization whose scale and zero point are a tensor: any number there is, at worst, saturated.
#include "quantize/numerics/requantize.h"
#include "runtime/verify/packed_product.h"
#include "runtime/verify/requant.h"
#include "runtime/verify/rules.h"
#include "runtime/verify/window.h"

namespace rshift::verify {
namespace {

void CheckRecord(const CommandCheck& check, Field field) {
  check.CheckType(field, {DType::kF32});
  check.CheckShape(field, {2});
}

// The record says what the bytes count in, whatever src and dst say.
void CheckOperands(const CommandCheck& check) {
  check.CheckByte(Field::kSrc);
  CheckRecord(check, Field::kSrc2);
  check.CheckType(Field::kDst, {DType::kF32, DType::kS32});
}

// Scales and biases in f32; without them, of an s32 dst, zeros.
void CheckRecords(const CommandCheck& check, const PackedProduct& product) {
  const uint8_t* records = RequantRecords(check, product.channels);
  const bool real = check.Tensor(Field::kDst).dtype == DType::kF32;
  for (int64_t c = 0; c < product.channels; ++c) {
    const auto [bias, multiplier, rshift] = RequantRecord(records, c);
    check.Check(bias == 0, "requant of channel ", c, ": bias is ", bias, ", expected 0");
    check.Check(real || (multiplier == 0 && rshift == 0), "requant of channel ", c,
                " is not 0 before a result in s32");
    CheckWords(check, Rounding::kFloatZeroEven, {multiplier, rshift}, {"requant of channel ", c},
               true);
  }
  CheckAccumulators(check, product, records, 0);
}

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::DynamicRange&) {
  check.CheckType(Field::kSrc, {DType::kF32});
  CheckRecord(check, Field::kDst);
}

void CheckCommand(const CommandCheck& check, const isa::DynamicQuantize&) {
  check.CheckType(Field::kSrc, {DType::kF32});
  CheckRecord(check, Field::kSrc2);
  check.CheckType(Field::kDst, {DType::kU8});
  check.CheckSameShape(Field::kDst, Field::kSrc);
}

void CheckCommand(const CommandCheck& check, const isa::DynamicConv& c) {
  CheckOperands(check);
  CheckConvWindow(check, c.window);
  CheckGroups(check, c.groups);
  const int64_t ic = check.Tensor(Field::kSrc).shape[3], oc = check.Tensor(Field::kDst).shape[3];
  const Window& w = c.window;
  if (IsDepthwise(c.groups, ic, oc))
    return CheckRecords(check, CheckDepthwiseWeights(check, ic, w.kernel_h * w.kernel_w, true));
  const PackedShape shape = ConvPackedShape(
      {c.groups, oc / c.groups, ic / c.groups, w.kernel_h, w.kernel_w, w.dilation_w});
  CheckRecords(check, CheckConvWeights(check, shape, true));
}

void CheckCommand(const CommandCheck& check, const isa::DynamicMatMul&) {
  CheckOperands(check);
  CheckRecords(check, CheckConvWeights(check, CheckRowProduct(check), true));
}

}  // namespace rshift::verify
