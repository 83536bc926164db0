// Random integer networks of the blocks that fusion and shared memory are about.
#ifndef RSHIFT_TESTS_CODEGEN_RANDOM_NET_H_
#define RSHIFT_TESTS_CODEGEN_RANDOM_NET_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "isa/attributes.h"
#include "tests/codegen/test_graph.h"

namespace rshift {

// A graph of NHWC images of one size that grows by one block at a time: convolutions of every kind
// with what may follow them, residual blocks, fire modules, dense blocks, shuffles, pools, Concats
// (nested, of equal values, of inputs) on channels and rows.
class RandomNet {
 public:
  explicit RandomNet(uint64_t seed);
  const TestGraph& graph() const { return test_; }

 private:
  int64_t Int(int64_t lo, int64_t hi);
  bool OneIn(int64_t n) { return Int(1, n) == 1; }
  ValueId Any() {
    return values_[static_cast<size_t>(Int(0, static_cast<int64_t>(values_.size()) - 1))];
  }
  const Value& Of(ValueId id) const { return test_.graph.value(id); }
  int64_t Channels(ValueId id) const { return Of(id).shape[3]; }

  Kind Image(int64_t channels);  // s8 or u8, any zero point
  Kind Like(ValueId x) const;    // x's type, scale and shape
  ClampQ Clamp(const Kind& kind);
  std::vector<ChannelRequant> Records(int64_t channels);
  ValueId Add(const Kind& kind, Op op, std::vector<ValueId> inputs);  // a node
  ValueId Keep(ValueId value);

  ValueId Conv(ValueId x, int64_t channels, const Kind* as = nullptr);
  ValueId Depthwise(ValueId x);
  ValueId Lut(ValueId x);             // Table, LeakyRelu, PRelu, Requantize
  ValueId Sum(ValueId a, ValueId b);  // of equal shape
  ValueId Pool(ValueId x);
  ValueId Shuffle(ValueId x);
  ValueId UpAndDown(ValueId x);
  ValueId Join(const std::vector<ValueId>& parts, int64_t axis);
  std::vector<ValueId> Partners(ValueId x);  // values that a Concat can join to x
  void Grow();

  std::mt19937_64 random_;
  TestGraph test_;
  std::vector<ValueId> values_;
  int64_t height_, width_;
  int next_ = 0;
};

}  // namespace rshift

#endif  // RSHIFT_TESTS_CODEGEN_RANDOM_NET_H_
