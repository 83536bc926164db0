#include "quantize/proof.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "quantize/numerics/accumulator.h"
#include "quantize/numerics/divide.h"
#include "quantize/numerics/int16.h"
#include "quantize/numerics/normalize.h"
#include "quantize/numerics/two_step.h"

namespace rshift {
namespace {

using numerics::kInt32Limit;
using numerics::kLargestInput;

bool IsFloat(Rounding rounding) {
  const RoundingWords words = kRoundingWords[static_cast<size_t>(rounding)];
  return words == RoundingWords::kScale || words == RoundingWords::kScaleAndBias;
}

// Largest |q - Z| of a tensor.
int64_t Reach(const Value& value) {
  if (value.dtype == DType::kS16) return numerics::kInt16Magnitude;
  const int64_t zero = value.quant ? value.quant->zero_point : 0;
  const int64_t lo = value.dtype == DType::kU8 ? 0 : -128, hi = lo + 255;
  return std::max(zero - lo, hi - zero);
}

class Prover {
 public:
  explicit Prover(const Graph& graph) : graph_(graph) {}

  void Prove(const Node& node) {
    node_ = &node;
    std::visit(
        Overloaded{
            [&](const QConv& op) { Product(op, FilterSize()); },
            [&](const QConvTranspose& op) {
              if (In(0).dtype != DType::kS16) return Product(op.conv, FilterSize());
              ProductS16(op.conv.rounding, op.conv.channels, FilterSize());
            },
            [&](const QMatMul& op) { Product(op, 1); },
            [&](const QConvS16& op) { ProductS16(op.rounding, op.channels, FilterSize()); },
            [&](const QMatMulS16& op) { ProductS16(op.rounding, op.channels, 1); },
            [&](const isa::AddS16& op) { AddS16(op); }, [&](const isa::Add& op) { Add(op); },
            [&](const isa::AddShiftedS16& op) { AddShiftedS16(op); },
            [&](const isa::AddShifted& op) { AddShifted(op); },
            [&](const isa::Mul& op) { Mul(op); },
            [&](const isa::BatchedMatMul& op) { Batched(op); },
            [&](const isa::BatchedMatMulS16& op) { BatchedS16(op); },
            [&](const QNormalize& op) { Normalize(op); }, [&](const QDiv& op) { Quotient(op); },
            [&](const isa::AveragePool& op) { Pool(op); },
            [&](const isa::LeakyRelu& op) { Leaky(op); }, [&](const QPRelu& op) { PRelu(op); },
            [&](const Requantize& op) { Rescale(op); }, [](const auto&) {}},
        node.op);
  }

  std::vector<LayerProof> Take() { return std::move(proofs_); }

 private:
  const Value& In(size_t i) const { return graph_.value(node_->inputs[i]); }

  LayerProof Start(Rounding rounding, int64_t limit) const {
    LayerProof proof;
    proof.node = node_->name;
    proof.op = OpName(node_->op);
    proof.rounding = rounding;
    proof.limit = limit;
    return proof;
  }

  void Finish(LayerProof proof) {
    RSHIFT_REQUIRE(proof.accumulator <= proof.limit, ErrorCode::kInternal, proof.node, " (",
                   proof.op, "): the accumulator may reach ", proof.accumulator,
                   ", expected at most ", proof.limit);
    proof.exact_in_float = !IsFloat(proof.rounding) || proof.accumulator <= int64_t{1} << 24;
    proofs_.push_back(std::move(proof));
  }

  // Widens the ranges by one pair; `lowest` is the smallest multiplier of its width.
  void AddPair(LayerProof& proof, int64_t channel, RequantWords words, int32_t lowest) const {
    auto [multiplier, rshift] = words;
    if (multiplier == 0) {
      ++proof.flushed;
      return;
    }
    if (proof.rounding == Rounding::kDoubleAway) return;  // any finite f64 scale
    if (IsFloat(proof.rounding)) {
      const float scale = std::bit_cast<float>(multiplier);
      RSHIFT_REQUIRE(scale >= 0 && std::isfinite(scale), ErrorCode::kInternal, proof.node,
                     ": channel ", channel, ": scale is ", scale,
                     ", expected a finite number >= 0");
      return;
    }
    if (proof.rounding == Rounding::kTwoStepUp && rshift >= numerics::kScalarRemainder) {
      rshift -= numerics::kScalarRemainder;
    }
    RSHIFT_REQUIRE(multiplier >= lowest && rshift >= 0 && rshift <= 62, ErrorCode::kInternal,
                   proof.node, ": channel ", channel, ": multiplier ", multiplier, " >> ", rshift,
                   ", expected at least ", lowest, " and a shift of 0..62");
    const bool first = proof.max_multiplier == 0;
    proof.min_multiplier = first ? multiplier : std::min(proof.min_multiplier, multiplier);
    proof.max_multiplier = std::max(proof.max_multiplier, multiplier);
    proof.min_rshift = first ? rshift : std::min(proof.min_rshift, rshift);
    proof.max_rshift = std::max(proof.max_rshift, rshift);
  }

  // Weights of one output channel of a convolution, which stand behind one another.
  size_t FilterSize() const {
    const Shape& w = In(1).shape;
    return static_cast<size_t>(NumElements(w) / std::max<int64_t>(w[0], 1));
  }

  // sum |w - zero_w| of each output channel, to which `run` weights at a time belong.
  std::vector<int64_t> Magnitudes(size_t channels, const std::vector<int32_t>& zero_w,
                                  size_t run) const {
    const auto q = In(1).constant->As<int8_t>();
    std::vector<int64_t> sums(channels);
    for (size_t i = 0; i < q.size(); ++i) {
      const size_t c = i / run % sums.size();
      sums[c] += std::abs(q[i] - (zero_w.empty() ? 0 : zero_w[c]));
    }
    return sums;
  }

  void Product(const QLinear& op, size_t run) {
    const std::vector<int64_t> magnitudes = Magnitudes(op.channels.size(), op.zero_w, run);
    LayerProof proof = Start(op.rounding, kInt32Limit);
    proof.channels = static_cast<int64_t>(op.channels.size());
    for (size_t c = 0; c < op.channels.size(); ++c) {
      const ChannelRequant& channel = op.channels[c];
      const int64_t bias = std::abs(int64_t{channel.bias});
      proof.largest_bias = std::max(proof.largest_bias, bias);
      proof.accumulator =
          std::max(proof.accumulator, numerics::LargestAccumulator(bias, magnitudes[c]));
      AddPair(proof, static_cast<int64_t>(c), {channel.multiplier, channel.rshift}, 1 << 30);
      if (!op.negative.empty() && op.negative[c].multiplier != 0)
        AddPair(proof, static_cast<int64_t>(c), op.negative[c], 1 << 30);
    }
    Finish(std::move(proof));
  }

  // NUMERICS.md sections 29.1 and 30.
  void ProductS16(Rounding rounding, const std::vector<ChannelRequant>& channels, size_t run) {
    const std::vector<int64_t> magnitudes = Magnitudes(channels.size(), {}, run);
    // Of sums that stay what they are there is nothing but them to prove.
    const bool sums = graph_.value(node_->outputs[0]).dtype == DType::kS32;
    const bool narrow = sums || rounding == Rounding::kTwoStep || rounding == Rounding::kTwoStepUp;
    LayerProof proof = Start(rounding, narrow ? kInt32Limit : numerics::kInt16AccumulatorLimit);
    proof.channels = static_cast<int64_t>(channels.size());
    for (size_t c = 0; c < channels.size(); ++c) {
      const int64_t bias = std::abs(int64_t{channels[c].bias});
      proof.largest_bias = std::max(proof.largest_bias, bias);
      proof.accumulator =
          std::max(proof.accumulator, bias + numerics::kInt16Magnitude * magnitudes[c]);
      if (sums) continue;
      if (rounding != Rounding::kHalfUp) {
        AddPair(proof, static_cast<int64_t>(c), {channels[c].multiplier, channels[c].rshift},
                1 << 30);
        continue;
      }
      const int32_t rshift = channels[c].rshift - numerics::kInt16MultiplierZeros;
      AddPair(proof, static_cast<int64_t>(c),
              {channels[c].multiplier >> numerics::kInt16MultiplierZeros, std::max(rshift, 0)},
              1 << 23);
    }
    Finish(std::move(proof));
  }

  void AddS16(const isa::AddS16& op) {
    LayerProof proof = Start(Rounding::kHalfUp, int64_t{1} << 62);
    proof.accumulator = numerics::kInt16Magnitude *
                        (std::abs(int64_t{op.multiplier}) + std::abs(int64_t{op.multiplier2}));
    AddPair(proof, 0, {std::abs(op.multiplier), op.rshift}, 0);
    AddPair(proof, 1, {std::abs(op.multiplier2), op.rshift}, 0);
    Finish(std::move(proof));
  }

  void Add(const isa::Add& op) {
    const int64_t half = op.rshift > 0 ? int64_t{1} << (op.rshift - 1) : 0;
    LayerProof proof = Start(op.rounding, kInt32Limit);
    proof.accumulator = Reach(In(0)) * std::abs(int64_t{op.multiplier}) +
                        Reach(In(1)) * std::abs(int64_t{op.multiplier2}) + half;
    // The int16 form of TPU-MLIR's theory: recognised by its sum, which the choice of rshift keeps
    // inside.
    if (op.multiplier < 128 && op.multiplier2 < 128 && proof.accumulator <= 32767)
      proof.limit = 32767;
    if (op.rounding == Rounding::kHalfAway) proof.limit = int64_t{1} << 62;  // int64 in Caffe2
    AddPair(proof, 0, {std::abs(op.multiplier), op.rshift}, 0);
    AddPair(proof, 1, {std::abs(op.multiplier2), op.rshift}, 0);
    Finish(std::move(proof));
  }

  void AddShifted(const isa::AddShifted& op) {
    LayerProof proof = Start(op.rounding, kInt32Limit);
    // Both factors are at most 1 (the larger scale is the unit), halved by the unit's factor 2.
    proof.accumulator = (Reach(In(0)) + Reach(In(1))) << op.left_shift;
    AddPair(proof, 0, op.words, 1 << 30);
    AddPair(proof, 1, op.words2, 1 << 30);
    AddPair(proof, 2, op.words3, 1 << 30);
    Finish(std::move(proof));
  }

  // Likewise.
  void AddShiftedS16(const isa::AddShiftedS16& op) {
    LayerProof proof = Start(Rounding::kTwoStep, kInt32Limit);
    proof.accumulator = ((Reach(In(0)) + Reach(In(1))) << op.left_shift) / 2;
    AddPair(proof, 0, op.words, 1 << 30);
    AddPair(proof, 1, op.words2, 1 << 30);
    AddPair(proof, 2, op.words3, 1 << 30);
    Finish(std::move(proof));
  }

  void Mul(const isa::Mul& op) {
    LayerProof proof = Start(op.rounding, kInt32Limit);
    proof.accumulator = Reach(In(0)) * Reach(In(1));
    AddPair(proof, 0, op.words, 1 << 30);
    Finish(std::move(proof));
  }

  void Batched(const isa::BatchedMatMul& op) {
    LayerProof proof = Start(op.rounding, kInt32Limit);
    proof.accumulator = numerics::LargestProductSum(In(0).shape.back(), Reach(In(0)), Reach(In(1)));
    AddPair(proof, 0, op.words, 1 << 30);
    Finish(std::move(proof));
  }

  // As the command takes its words: without the zeros at their end.
  void BatchedS16(const isa::BatchedMatMulS16& op) {
    const int32_t zeros = numerics::ProductZeros(op.words);
    const int64_t multiplier = std::max(op.words.multiplier >> zeros, 1);
    LayerProof proof = Start(Rounding::kHalfUp, (int64_t{1} << 61) / multiplier);
    proof.accumulator = In(0).shape.back() * numerics::kInt16Magnitude * numerics::kInt16Magnitude;
    AddPair(proof, 0, {op.words.multiplier >> zeros, op.words.rshift - zeros}, 1);
    Finish(std::move(proof));
  }

  // The variance with epsilon; factors and offsets are in bounds by how they are made.
  void Normalize(const QNormalize& op) {
    LayerProof proof = Start(Rounding::kHalfUp, numerics::kLargestVariance);
    const Shape& shape = In(0).shape;
    const auto end = shape.end() - (op.channels ? 1 : 0);
    const int64_t n = NumElements(Shape(shape.begin() + op.axis, end));
    const int64_t most = n * Reach(In(0));
    proof.channels = static_cast<int64_t>(op.row_factors.size());
    proof.accumulator = ((most * most) << op.variance_shift) + op.epsilon;
    for (size_t i = 0; i < op.row_factors.size(); ++i) {
      const int32_t factor = op.row_factors[i];
      AddPair(proof, static_cast<int64_t>(i), {factor < 0 ? -factor : factor, op.rshift}, 0);
    }
    Finish(std::move(proof));
  }

  void Quotient(const QDiv& op) {
    LayerProof proof = Start(Rounding::kHalfUp, int64_t{1} << 62);
    int64_t most = 0;
    for (const int32_t r : op.reciprocals) most = std::max(most, std::abs(int64_t{r}));
    proof.accumulator = Reach(In(0)) * most;
    proof.max_rshift = proof.min_rshift = numerics::kReciprocalBits;
    Finish(std::move(proof));
  }

  void Pool(const isa::AveragePool& op) {
    const int64_t taps = op.window.kernel_h * op.window.kernel_w;
    LayerProof proof = Start(op.rounding, kInt32Limit);
    proof.accumulator = taps * kLargestInput;
    if (op.arithmetic == PoolArithmetic::kRequantize) AddPair(proof, 0, op.words, 1);
    Finish(std::move(proof));
  }

  void Leaky(const isa::LeakyRelu& op) {
    LayerProof proof = Start(Rounding::kHalfUp, int64_t{1} << 62);
    proof.accumulator = Reach(In(0)) * std::max<int64_t>(op.multiplier, op.positive.multiplier);
    AddPair(proof, 0, {op.multiplier, op.rshift}, 1);
    if (op.positive.multiplier != 0) AddPair(proof, 1, op.positive, 1);
    Finish(std::move(proof));
  }

  void PRelu(const QPRelu& op) {
    LayerProof proof = Start(Rounding::kHalfUp, int64_t{1} << 62);
    proof.channels = static_cast<int64_t>(op.slopes.size());
    proof.accumulator = Reach(In(0)) * std::max<int64_t>(128, op.positive.multiplier);
    proof.max_rshift = proof.min_rshift = op.rshift;
    Finish(std::move(proof));
  }

  void Rescale(const Requantize& op) {
    if (op.words.multiplier == 0) return;  // a clamp
    LayerProof proof = Start(Rounding::kHalfUp, int64_t{1} << 62);
    proof.accumulator = Reach(In(0)) * int64_t{op.words.multiplier};
    AddPair(proof, 0, op.words, 1);
    Finish(std::move(proof));
  }

  const Graph& graph_;
  const Node* node_ = nullptr;
  std::vector<LayerProof> proofs_;
};

}  // namespace

double LayerProof::headroom_bits() const {
  return std::log2(static_cast<double>(limit) /
                   static_cast<double>(std::max<int64_t>(accumulator, 1)));
}

std::vector<LayerProof> ProveIntegers(const Graph& graph) {
  Prover prover(graph);
  for (const Node& node : graph.nodes()) prover.Prove(node);
  return prover.Take();
}

}  // namespace rshift
