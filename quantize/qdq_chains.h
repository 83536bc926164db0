// What convolutions take in of the nodes behind them, in models with their own quantization:
// NUMERICS.md section 19.
#ifndef RSHIFT_QUANTIZE_QDQ_CHAINS_H_
#define RSHIFT_QUANTIZE_QDQ_CHAINS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "quantize/config.h"
#include "quantize/emitter.h"
#include "quantize/profile.h"
#include "quantize/types.h"

namespace rshift {

// What a convolution could take in, of nodes that alone read what is before them.
struct QdqChain {
  size_t conv = 0;
  FusedPostOps fused;
  std::vector<size_t> nodes;  // behind the convolution
  bool in_units = false;      // TakesUnits() has been one of them
};

class QdqChains {
 public:
  // The type of an f32 activation that is held as integers; null: it is not.
  using HeldType = std::function<const IntType*(ValueId)>;

  // All of them must outlive it.
  QdqChains(const Graph& graph, const QuantizeConfig& config, const Profile& profile,
            const std::vector<std::vector<NodeId>>& consumers)
      : graph_(graph), config_(config), profile_(profile), consumers_(consumers) {}

  // One of convolution n alone.
  void Start(size_t n);
  // A chain that node n ends, for Extended to find.
  void Keep(QdqChain chain);
  // The chain before node n and the node itself; nothing where no convolution can take it in.
  std::optional<QdqChain> Extended(size_t n, const HeldType& held) const;
  // A Clip is the only reader: the convolution takes it in, too.
  bool ClipFollows(ValueId y) const;

 private:
  // The chain that ends with the node's input i, where nobody else reads that.
  const QdqChain* ChainBefore(const Node& node, size_t i) const;
  // y + S (q - Z): the sum of the bytes, then - S Z.
  bool TakesSum(const Node& node, ValueId other, const HeldType& held, FusedPostOps* fused) const;
  bool ReadsRanges(const Node& conv) const;
  // A PRelu with a slope for each channel of the convolution's result, where the profile has it.
  std::vector<RealPostOp> ChannelRelu(const Node& node, const Node& conv, size_t side) const;
  // The quotient by the scales of channels before a Quantize whose ranges the profile reads itself.
  bool TakesUnits(const Node& node, const Node& conv) const;
  // The Round and the zero points of channels before a Quantize (NUMERICS.md section 20), as
  // operations; a profile that reads ranges has both in them.
  std::optional<std::vector<RealPostOp>> TakesZeros(const Node& node, const QdqChain& chain) const;
  // The only reader of `rounded` adds a number to each channel, for a Quantize of scale 1.
  bool AddsZeros(ValueId rounded) const;

  const Graph& graph_;
  const QuantizeConfig& config_;
  const Profile& profile_;
  const std::vector<std::vector<NodeId>>& consumers_;
  std::map<ValueId, QdqChain> chains_;  // by the value they end with
};

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_QDQ_CHAINS_H_
