// How badly integer consumers compute when one range of what they read is another.
#ifndef RSHIFT_PIPELINE_CONSUMER_ERROR_H_
#define RSHIFT_PIPELINE_CONSUMER_ERROR_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/consumer_graph.h"
#include "quantize/ranges/ranges.h"
#include "quantize/ranges/table.h"
#include "runtime/runtime.h"

namespace rshift {

// Where the float program (CompileObservable) has each tensor.
std::map<std::string, int32_t> TensorsByName(const Program& program);

// The consumers of one tensor as an integer program.
class ConsumerError {
 public:
  // `table`: a range for every tensor of the consumers' graph. `portable`: SessionOptions'.
  ConsumerError(const Graph& consumers, const CalibrationTable& table, QuantMode mode,
                const std::map<std::string, int32_t>& floating, bool portable = false);

  // `floating`: after a run of the float program on a sample. The outputs are held against the
  // float program's as far as their own ranges reach.
  void Add(const Session& floating);
  // Squares by squared errors, in dB, the mean of the outputs: one for each sample that was added.
  const std::vector<double>& quality() const { return quality_; }

 private:
  struct Output {
    int index = 0;            // of the program
    int32_t floating = 0;     // tensor of the float program
    float low = 0, high = 0;  // what its integers reach
  };
  Program program_;
  Session session_;
  std::vector<int32_t> inputs_;  // tensors of the float program, by input
  std::vector<Output> outputs_;
  std::vector<double> quality_;
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CONSUMER_ERROR_H_
