// What quantization makes of a model, and what it says about it.
#ifndef RSHIFT_QUANTIZE_REPORT_H_
#define RSHIFT_QUANTIZE_REPORT_H_

#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/profile.h"
#include "quantize/ranges/ranges.h"

namespace rshift {

struct QuantizeReport {
  std::vector<RangeChange> range_changes;
  // Nodes left in F32: name, operator, why.
  struct FloatNode {
    std::string node, op, reason;
  };
  std::vector<FloatNode> float_nodes;
  // Nodes with a profile of their own (--config).
  struct NodeProfile {
    std::string node;
    Profile profile;
  };
  std::vector<NodeProfile> profiles;
  // Integer nodes whose function integers follow badly (quantize/sensitive.h).
  struct Note {
    std::string node, op, text;
  };
  std::vector<Note> notes;
  // Channels repaired so that accumulator or bias fit int32, and, with equal scales, channels whose
  // multiplier was flushed to zero.
  struct Repair {
    std::string node;
    int64_t channel;
    std::string reason;
    float scale_before, scale_after;
  };
  std::vector<Repair> repairs;
  // Models with their own parameters: who gave each tensor its type.
  struct TypeSource {
    std::string tensor;
    DType dtype = DType::kS8;
    QuantParams quant;
    std::string source;  // "QuantizeLinear conv1_quant", "moved from t0_q"
  };
  std::vector<TypeSource> type_sources;
};

struct QuantizeResult {
  Graph graph;
  QuantizeReport report;
  QuantMode mode = QuantMode::kSymmetric;  // that of the options, or the model's own
};

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_REPORT_H_
