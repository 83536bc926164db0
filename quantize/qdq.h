// Models that hold their own quantization: QuantizeLinear and DequantizeLinear around float
// operators. The types of the integers come from the graph, no calibration table is needed.
#ifndef RSHIFT_QUANTIZE_QDQ_H_
#define RSHIFT_QUANTIZE_QDQ_H_

#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/emitter.h"
#include "quantize/ops/fuse_post_ops.h"
#include "quantize/options.h"
#include "quantize/report.h"
#include "quantize/types.h"

namespace rshift {

// Throws kInvalidInput for configuration keys that mean nothing for such a model: ranges,
// per_channel, and anything said about a QuantizeLinear or DequantizeLinear itself.
void CheckQdqConfig(const Graph& graph, const QuantizeConfig& config);

struct QdqPlan {
  QuantizationPlan plan;  // Quantize and Dequantize nodes are kInteger
  ValueTypes types;       // of the values that are held as integers
  PostOpPlan post_ops;    // what convolutions take in, and those whose result stays f32
  std::vector<QuantizeReport::TypeSource> sources;
};

// An f32 value is held as integers when a Dequantize makes it, when a node moves the bytes of such
// a value and nothing else (Reshape, Transpose, Slice, MaxPool, ...), or when nothing but Quantize
// nodes with one set of parameters read it, directly or through nodes that move what they are
// given, and every activation its node reads is held as integers. A Conv or MatMul that reads
// integers is integer whatever is behind it: functions and one Add before the Quantize become its
// post-operations; else its result is f32. All other nodes run in F32 between the model's own
// Dequantize and Quantize.
QdqPlan PlanQdq(const Graph& graph, const QuantizeConfig& config, const Profile& profile);

// Symmetric when every zero point is 0, unless the options say otherwise. Throws kInvalidInput when
// they ask for symmetric and a zero point is not 0.
QuantMode ModeOfTypes(const Graph& graph, const QuantizeOptions& options);

// Writes what a Quantize or Dequantize node of the model becomes: nothing where the integers are
// there already, a Requantize between two sets of parameters, else the node itself.
void EmitModelQuantize(Emitter& emitter, const Node& node);
void EmitModelDequantize(Emitter& emitter, const Node& node);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_QDQ_H_
