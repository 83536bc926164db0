// What the parts of the interpreter share: a node with its operands, loops over tensors, and one
// function for each operator, in a file for its kind.
#ifndef RSHIFT_TESTS_QUANTIZE_INTERPRETER_PARTS_H_
#define RSHIFT_TESTS_QUANTIZE_INTERPRETER_PARTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/graph.h"
#include "isa/attributes.h"
#include "tests/quantize/integer_ops.h"
#include "tests/quantize/interpreter.h"

namespace rshift::test::interpreter {

struct Context {
  const Graph& graph;
  const Node& node;
  const std::vector<Tensor>& values;

  const Tensor& in(size_t i) const { return values[node.inputs[i].index()]; }
  bool has(size_t i) const { return node.inputs.size() > i && node.inputs[i].valid(); }
  const Value& meta(size_t i) const { return graph.value(node.inputs[i]); }
  const Value& out() const { return graph.value(node.outputs[0]); }
  Tensor Empty() const {
    return {out().shape, std::vector<double>(static_cast<size_t>(NumElements(out().shape)), 0.0)};
  }
};

// --- loops (interpreter_loops.cc)

ByteType TypeOf(const Value& value);
std::vector<int64_t> Index(const Shape& shape, int64_t flat);
int64_t Flat(const Shape& shape, const std::vector<int64_t>& index);

// Sum of x * w; `pad` is what a pad of each channel holds.
Tensor Convolve(const Context& c, const Window& window, int64_t groups,
                const std::function<double(int64_t)>& pad, const std::vector<int32_t>& zero_w = {});
// By the definition, for every output and every tap of the whole kernel; a tap that meets no
// position of x reads `pad`.
Tensor ConvolveTransposed(const Context& c, const QConv& op, double pad);
// Of two tensors [..., M, K] and [..., K, N], less their zero points, broadcast.
Tensor MultiplyBatches(const Context& c, double zero_a, double zero_b);
Tensor Multiply(const Context& c, const std::vector<int32_t>& zero_w = {});
Tensor Pool(const Context& c, const Window& window, bool max, bool count_pad, double pad,
            const std::function<double(double sum, int64_t count)>& finish,
            const std::function<double(double, double)>& add = std::plus<double>());
// Element of an operand that broadcasts to `shape`.
double Broadcasted(const Tensor& operand, const Shape& shape, int64_t flat);
int32_t Operand(const Context& c, int input, const Shape& shape, size_t i);
Tensor EachElement(const Context& c, const std::function<double(double)>& function);
// Fraction bits of the products of coefficients of so many each.
int ResizedBits(const std::vector<int32_t>& taps, const Shape& shape, int each);
// What the taps, of so many fraction bits, make of x at element `flat` of `shape`.
double ResizeAt(const std::vector<int32_t>& taps, const Tensor& x, const Shape& shape, int64_t flat,
                int bits);

// --- numbers in double (interpreter_float.cc)

Tensor Interpret(const Context& c, const Conv& op);
Tensor Interpret(const Context& c, const MatMul& op);
Tensor Interpret(const Context& c, const MaxPool& op);
Tensor Interpret(const Context& c, const AveragePool& op);
Tensor Interpret(const Context& c, const Binary& op);
Tensor Interpret(const Context& c, const Clip& op);
Tensor Interpret(const Context& c, const Cast& op);
Tensor Interpret(const Context& c, const LeakyRelu& op);
Tensor Interpret(const Context& c, const PRelu& op);
Tensor Interpret(const Context& c, const Unary& op);
Tensor Interpret(const Context& c, const Softmax& op);
Tensor Interpret(const Context& c, const LayerNorm& op);
Tensor Interpret(const Context& c, const InstanceNorm& op);

// --- what moves, picks or gathers numbers of any type (interpreter_movement.cc)

Tensor Interpret(const Context& c, const Reshape& op);
Tensor Interpret(const Context& c, const Transpose& op);
Tensor Interpret(const Context& c, const Slice& op);
Tensor Interpret(const Context& c, const Pad& op);
Tensor Interpret(const Context& c, const Expand& op);
Tensor Interpret(const Context& c, const Concat& op);
Tensor Interpret(const Context& c, const Where& op);
Tensor Interpret(const Context& c, const ArgMax& op);
Tensor Interpret(const Context& c, const Reduce& op);
Tensor Interpret(const Context& c, const Resize& op);

// --- bytes (interpreter_bytes.cc)

Tensor Interpret(const Context& c, const Quantize& op);
Tensor Interpret(const Context& c, const Dequantize& op);
Tensor Interpret(const Context& c, const Requantize& op);
Tensor Interpret(const Context& c, const QConv& op);
Tensor Interpret(const Context& c, const QConvTranspose& op);
Tensor Interpret(const Context& c, const QMatMul& op);
Tensor Interpret(const Context& c, const isa::BatchedMatMul& op);
Tensor Interpret(const Context& c, const QNormalize& op);
Tensor Interpret(const Context& c, const DynamicMatMul& op);
Tensor Interpret(const Context& c, const isa::Add& op);
Tensor Interpret(const Context& c, const isa::AddFloat& op);
Tensor Interpret(const Context& c, const isa::AddShifted& op);
Tensor Interpret(const Context& c, const isa::AddFma& op);
Tensor Interpret(const Context& c, const isa::AddScaled& op);
Tensor Interpret(const Context& c, const isa::Mul& op);
Tensor Interpret(const Context& c, const QResize& op);
Tensor Interpret(const Context& c, const isa::Extremum& op);
Tensor Interpret(const Context& c, const QDiv& op);
Tensor Interpret(const Context& c, const QBinaryTable& op);
Tensor Interpret(const Context& c, const QSoftmax& op);
Tensor Interpret(const Context& c, const isa::AveragePool& op);
Tensor Interpret(const Context& c, const isa::LeakyRelu& op);
Tensor Interpret(const Context& c, const QPRelu& op);
Tensor Interpret(const Context& c, const QTable& op);
Tensor Interpret(const Context& c, const QChannelTables& op);

// --- cells (interpreter_cells.cc), by the real functions of what the products stand for: within a
// few units of the integers

Tensor Interpret(const Context& c, const QLstmCell& op);
Tensor Interpret(const Context& c, const QGruCell& op);
Tensor Interpret(const Context& c, const QGatedOutput& op);

// --- 16-bit integers (interpreter_int16.cc)

Tensor Interpret(const Context& c, const QResizeS16& op);
Tensor Interpret(const Context& c, const QMatMulS16& op);
Tensor Interpret(const Context& c, const isa::RequantizeS16& op);
Tensor Interpret(const Context& c, const QTableS16& op);
Tensor Interpret(const Context& c, const isa::AddS16& op);
Tensor Interpret(const Context& c, const isa::MulS16& op);
Tensor Interpret(const Context& c, const isa::DivS16& op);
Tensor Interpret(const Context& c, const isa::ModS16& op);
Tensor Interpret(const Context& c, const QPowS16& op);
Tensor Interpret(const Context& c, const isa::CompareS16& op);
Tensor Interpret(const Context& c, const isa::AveragePoolS16& op);
Tensor Interpret(const Context& c, const isa::ReduceSquares& op);  // of bytes, too

}  // namespace rshift::test::interpreter

#endif  // RSHIFT_TESTS_QUANTIZE_INTERPRETER_PARTS_H_
