// Complex numbers: floats with a last dimension of two, the real and the imaginary part. A spectrum
// is all that makes them.
#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

// Of the last dimension; inputs: x [..., 1, W] and the two lengths of the transform.
void TranslateRfft2d(OpWriter& op) {
  const std::vector<int64_t> lengths = op.Ints(1, "lengths");
  op.Check(lengths.size() == 2, "has ", lengths.size(), " lengths, expected 2");
  op.Check(op.InRank(0) >= 2, "input has the shape ", ToString(op.InShape(0)),
           ", expected 2 dimensions or more");
  const int64_t rows = op.InShape(0)[op.InShape(0).size() - 2];
  op.CheckSupported(lengths[0] == 1 && rows == 1, "transforms ", rows, " rows of length ",
                    lengths[0], "; spectra of single rows are supported");
  const std::string x = op.Emit("Unsqueeze", {op.Real(0), op.IntList({-1})});
  op.GiveStored(
      op.Emit("DFT", {x, op.Scalar(lengths[1]), op.Scalar(-2)}, {{"onesided", int64_t{1}}}));
}

void TranslateMagnitude(OpWriter& op) {
  op.GiveStored(op.Emit("ReduceL2", {op.Stored(0), op.IntList({-1})}, {{"keepdims", int64_t{0}}}));
}

constexpr Entry kComplexEntries[] = {
    {BuiltinOperator_RFFT2D, TranslateRfft2d},
    {BuiltinOperator_COMPLEX_ABS, TranslateMagnitude},
    {BuiltinOperator_REAL, [](OpWriter& op) { GiveComplexPart(op, 0); }},
    {BuiltinOperator_IMAG, [](OpWriter& op) { GiveComplexPart(op, 1); }},
};

}  // namespace

void GiveComplexPart(OpWriter& op, int64_t part) {
  op.GiveStored(op.Emit("Gather", {op.Stored(0), op.Scalar(part)}, {{"axis", int64_t{-1}}}));
}

std::span<const Entry> ComplexEntries() { return kComplexEntries; }

}  // namespace rshift::tflite
