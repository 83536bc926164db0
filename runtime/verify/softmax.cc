// Softmax: the table's numbers keep every row's sum and quotient in range.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "quantize/numerics/softmax_row.h"
#include "runtime/verify/rules.h"

namespace rshift::verify {
namespace {

// The sum of `columns` entries fits Q12.19, and that of the greatest element alone is above 0.
void CheckFixedTable(const CommandCheck& check, int64_t columns) {
  std::array<int32_t, 256> table;
  std::memcpy(table.data(), check.Data(Field::kTable), sizeof(table));
  const auto [least, greatest] = std::minmax_element(table.begin(), table.end());
  check.Check(*least >= 0, check.Describe(Field::kTable), ": an entry is ", *least,
              ", expected at least 0");
  check.Check(numerics::ToAccumulation(table[0]) > 0, check.Describe(Field::kTable),
              ": the first entry is ", table[0], ", expected at least 2048");
  const int64_t each = numerics::ToAccumulation(*greatest);
  check.Check(columns <= INT32_MAX / each, "rows of ", columns,
              " may sum up to more than 2^31: ", "expected at most ", INT32_MAX / each,
              " elements");
}

// exp(0) first, no entry larger: the sum is at least that, and below 2^62.
void CheckQuotientTable(const CommandCheck& check, int64_t columns) {
  std::array<int32_t, 256> table;
  std::memcpy(table.data(), check.Data(Field::kTable), sizeof(table));
  check.Check(table[0] == numerics::kSoftmaxOne, check.Describe(Field::kTable),
              ": the first entry is ", table[0], ", expected ", numerics::kSoftmaxOne);
  for (const int32_t entry : table) {
    check.Check(entry >= 0 && entry <= numerics::kSoftmaxOne, check.Describe(Field::kTable),
                ": an entry is ", entry, ", expected 0..", numerics::kSoftmaxOne);
  }
  check.Check(columns <= numerics::kMostSoftmax, "rows of ", columns,
              " elements, expected at most ", numerics::kMostSoftmax);
}

// No sum is 0, infinite or NaN.
void CheckFloatTable(const CommandCheck& check, int64_t columns) {
  std::array<float, 256> table;
  std::memcpy(table.data(), check.Data(Field::kTable), sizeof(table));
  double greatest = 0;
  for (const float entry : table) {
    check.Check(std::isfinite(entry) && !std::signbit(entry), check.Describe(Field::kTable),
                ": an entry is ", entry, ", expected a finite number, at least 0");
    greatest = std::max(greatest, static_cast<double>(entry));
  }
  check.Check(table[0] >= 1e-30f, check.Describe(Field::kTable), ": the first entry is ", table[0],
              ", expected at least 1e-30");
  // Sums of floats, each rounded: half the range leaves room for that.
  check.Check(greatest * static_cast<double>(columns) < 1e38, "rows of ", columns,
              " entries up to ", greatest, " may overflow");
}

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::Softmax& softmax) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckByte(Field::kSrc);
  check.CheckScaled(Field::kDst);
  check.CheckClamp(softmax.clamp);
  check.CheckBlob(Field::kTable, 1024);
  if (softmax.arithmetic == SoftmaxArithmetic::kLogQuotient ||
      softmax.arithmetic == SoftmaxArithmetic::kLogFloatTable) {
    check.CheckScaled(Field::kSrc);
  }
  const Shape& shape = check.Tensor(Field::kSrc).shape;
  check.Check(!shape.empty(), check.Describe(Field::kSrc), ": expected at least one dimension");
  switch (kSoftmaxTables[static_cast<size_t>(softmax.arithmetic)]) {
    case SoftmaxTable::kQ031:
      return CheckFixedTable(check, shape.back());
    case SoftmaxTable::kQ230:
      return CheckQuotientTable(check, shape.back());
    case SoftmaxTable::kF32:
      return CheckFloatTable(check, shape.back());
  }
}

}  // namespace rshift::verify
