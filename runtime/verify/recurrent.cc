// Cells of LSTM and GRU: gates stay in 64 bits, the table's numbers in 32. Fixed-point ones hold
// any s32 products.
#include "quantize/numerics/recurrent.h"

#include <algorithm>
#include <cmath>

#include "quantize/numerics/fixed_lstm.h"
#include "quantize/numerics/requantize.h"
#include "runtime/verify/requant.h"
#include "runtime/verify/rules.h"

namespace rshift::verify {
namespace {

void CheckTable(const CommandCheck& check) {
  check.Check(check.Has(Field::kTable), "has no table");
  check.CheckBlob(Field::kTable, numerics::kTanhBytes);
  const auto* entries = reinterpret_cast<const int32_t*>(check.Data(Field::kTable));
  for (int32_t i = 0; i <= numerics::kTanhSteps; ++i) {
    check.Check(entries[i] >= 0 && entries[i] <= 1 << numerics::kTanhEntryBits,
                check.Describe(Field::kTable), ": entry ", i, " is ", entries[i],
                ", expected 0 to 2^20");
  }
}

// Factors of both products, `offsets` offsets.
void CheckNumbers(const CommandCheck& check, int64_t width, int64_t offsets) {
  check.Check(check.Has(Field::kList) && check.Has(Field::kList2), "has no factors or offsets");
  check.CheckType(Field::kList2, {DType::kS32});
  check.CheckShape(Field::kList2, {2 * width});
  check.CheckType(Field::kList, {DType::kS64});
  check.CheckShape(Field::kList, {offsets});
  const auto* factors = reinterpret_cast<const int32_t*>(check.Data(Field::kList2));
  const auto* numbers = reinterpret_cast<const int64_t*>(check.Data(Field::kList));
  for (int64_t i = 0; i < 2 * width; ++i) {
    check.Check(std::abs(int64_t{factors[i]}) <= numerics::kLargestGateFactor,
                check.Describe(Field::kList2), ": number ", i, " is ", factors[i],
                ", expected less than 2^29");
  }
  for (int64_t i = 0; i < offsets; ++i) {
    check.Check(
        numbers[i] >= -numerics::kLargestGateOffset && numbers[i] <= numerics::kLargestGateOffset,
        check.Describe(Field::kList), ": number ", i, " is ", numbers[i],
        ", expected at most 2^60");
  }
}

// The products: rows of `gates` times dst's columns, of the first one from `row` on.
void CheckProducts(const CommandCheck& check, Field a, Field b, int64_t gates, int64_t row) {
  const Shape& y = check.Tensor(Field::kDst).shape;
  const int64_t width = CheckedProduct(check, {gates, y.back()});
  const int64_t batch = NumElements(Shape(y.begin(), y.end() - 1));
  const auto rows = [&](Field f) {
    check.CheckType(f, {DType::kS32});
    const Shape& shape = check.Tensor(f).shape;
    check.Check(!shape.empty() && shape.back() == width, check.Describe(f), ": expected rows of ",
                width, " numbers");
    return NumElements(Shape(shape.begin(), shape.end() - 1));
  };
  const int64_t count = rows(a);
  check.Check(batch <= count && row <= count - batch, check.Describe(a), ": has ", count,
              " rows, expected ", batch, " from row ", row, " on");
  if (!check.Has(b)) return;
  check.Check(rows(b) == batch, check.Describe(b), ": expected ", batch, " rows");
}

void CheckState(const CommandCheck& check, Field f) {
  if (!check.Has(f)) return;
  check.CheckType(f, {DType::kS16});
  check.CheckSameShape(Field::kDst, f);
}

void CheckDst(const CommandCheck& check) {
  const Shape& y = check.Tensor(Field::kDst).shape;
  check.Check(!y.empty() && y.back() > 0, check.Describe(Field::kDst),
              ": expected rows of at least one number");
}

// Of fixed-point cells: 3 or 4 gates in the rows of product a, and their biases and words.
void CheckFixedGates(const CommandCheck& check, Field a, Field b, int64_t row) {
  const int64_t hidden = check.Tensor(Field::kDst).shape.back();
  const Shape& products = check.Tensor(a).shape;
  const int64_t gates = products.empty() ? 0 : products.back() / hidden;
  check.Check(gates == 3 || gates == 4, check.Describe(a), ": expected rows of 3 or 4 gates of ",
              hidden, " numbers");
  CheckProducts(check, a, b, gates, row);
  check.CheckType(Field::kList, {DType::kS32});
  check.CheckShape(Field::kList, {CheckedProduct(check, {gates, hidden})});
  check.CheckType(Field::kList2, {DType::kS32});
  check.CheckShape(Field::kList2, {gates * numerics::kWordsOfFixedGate});
  const auto* words = reinterpret_cast<const int32_t*>(check.Data(Field::kList2));
  for (int64_t i = 0; i < 2 * gates; ++i)
    CheckWords(check, Rounding::kTwoStep, {words[2 * i], words[2 * i + 1]}, {"gate product ", i});
}

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::LstmCell& c) {
  CheckDst(check);
  CheckState(check, Field::kDst);
  CheckState(check, Field::kSrc3);
  CheckProducts(check, Field::kSrc, Field::kSrc2, 4, c.row);
  const int64_t width = 4 * check.Tensor(Field::kDst).shape.back();
  CheckNumbers(check, width, width);
  CheckTable(check);
}

void CheckCommand(const CommandCheck& check, const isa::GruCell& c) {
  CheckDst(check);
  CheckState(check, Field::kDst);
  CheckState(check, Field::kSrc3);
  CheckProducts(check, Field::kSrc, Field::kSrc2, 3, c.row);
  const int64_t hidden = check.Tensor(Field::kDst).shape.back();
  CheckNumbers(check, 3 * hidden, 4 * hidden);
  CheckTable(check);
}

void CheckCommand(const CommandCheck& check, const isa::GatedOutput& c) {
  CheckDst(check);
  if (check.Tensor(Field::kDst).dtype != DType::kS16) check.CheckByte(Field::kDst);
  check.CheckClamp(c.clamp);
  CheckState(check, Field::kSrc);
  CheckWords(check, Rounding::kHalfUp, c.words, "output");
  const bool gated = check.Has(Field::kSrc2);
  if (c.tanh || gated) CheckTable(check);
  if (!gated) {
    check.Check(!check.Has(Field::kSrc3), "has a second product and no first one");
    return CheckUnused(check, {Field::kOffset, Field::kRshift, Field::kMode});
  }
  const int64_t hidden = check.Tensor(Field::kDst).shape.back();
  const Shape& products = check.Tensor(Field::kSrc2).shape;
  const int64_t gates = products.empty() ? 0 : products.back() / hidden;
  check.Check(gates == 3 || gates == 4, check.Describe(Field::kSrc2), ": expected rows of 3 or 4 ",
              "gates of ", hidden, " numbers");
  check.Check(c.gate < gates, "mode is ", c.gate, ", expected a gate of ", gates);
  CheckProducts(check, Field::kSrc2, Field::kSrc3, gates, c.row);
  CheckNumbers(check, gates * hidden, gates == 3 ? 4 * hidden : gates * hidden);
}

void CheckCommand(const CommandCheck& check, const isa::FixedLstmCell& c) {
  CheckDst(check);
  CheckState(check, Field::kDst);
  CheckState(check, Field::kSrc3);
  check.CheckClamp(c.clamp);
  CheckFixedGates(check, Field::kSrc, Field::kSrc2, c.row);
}

void CheckCommand(const CommandCheck& check, const isa::FixedGatedOutput& c) {
  CheckDst(check);
  check.CheckByte(Field::kDst);
  check.CheckClamp(c.clamp);
  CheckState(check, Field::kSrc);
  CheckWords(check, Rounding::kTwoStep, c.words, "output");
  check.Check(c.words.multiplier == 0 || c.words.rshift >= 31, "rshift3 is ", c.words.rshift,
              ", expected 31 or more: the output would not fit 32 bits");
  CheckFixedGates(check, Field::kSrc2, Field::kSrc3, c.row);
}

}  // namespace rshift::verify
