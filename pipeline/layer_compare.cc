#include "pipeline/layer_compare.h"

#include <utility>

#include "base/error.h"
#include "calibrate/fill_inputs.h"
#include "pipeline/complete_tensors.h"
#include "pipeline/program_pair.h"
#include "pipeline/tensor_view.h"
#include "runtime/runtime.h"

namespace rshift {
namespace {

struct ErrorSums {
  SimilaritySum tensor;
  ChannelErrorSum channels;
  void Add(const PairValues& values) {
    tensor.Add(values.integer, values.floating);
    channels.Add(values.integer, values.floating);
  }
};

// What is gathered of one tensor.
struct Gathered {
  ErrorSums accumulated, alone;
  ValueHistogram values;
  int64_t saturated = 0;
};

// The least and the largest integer; recurrent cells keep their state in 16 bits.
std::pair<int, int> EndsOf(DType type) {
  if (type == DType::kS16) return {-32768, 32767};
  if (type == DType::kU16) return {0, 65535};
  return type == DType::kU8 ? std::pair{0, 255} : std::pair{-128, 127};
}

int64_t CountSaturated(const TensorRecord& record, const PairValues& values) {
  if (!record.quantized) return 0;
  const auto [q_lo, q_hi] = EndsOf(record.dtype);
  const float lo = record.scale * static_cast<float>(q_lo - record.zero_point);
  const float hi = record.scale * static_cast<float>(q_hi - record.zero_point);
  const float half = record.scale / 2;
  int64_t count = 0;
  for (size_t i = 0; i < values.integer.size(); ++i) {
    const float found = values.integer[i], reference = values.floating[i];
    count += static_cast<int64_t>((found >= hi) & (reference > hi + half)) +
             static_cast<int64_t>((found <= lo) & (reference < lo - half));
  }
  return count;
}

class Comparison {
 public:
  Comparison(const Graph& floating, const Graph& integer, int threads)
      : floating_(CompileObservable(floating, "float program")),
        integer_(CompileObservable(integer, "integer program")),
        float_session_(floating_, {.threads = threads}),
        integer_session_(integer_, {.threads = threads, .one_by_one = true}),
        pairs_(PairTensors(integer_.image(), floating_.image())),
        completed_(CompletedTensors(integer_.image()).after),
        pair_of_(integer_.image().tensors.size(), -1) {
    for (size_t p = 0; p < pairs_.size(); ++p) {
      const TensorRecord& record = integer_.image().tensors[pairs_[p].integer];
      const std::vector<ChannelView> views = pairs_[p].same_order
                                                 ? ChannelViews(record.layout, record.shape)
                                                 : ChannelViews(Layout::kPlain, OnnxShape(record));
      const ErrorSums sums{{}, ChannelErrorSum(views)};
      gathered_.push_back({sums, sums, {}, 0});
      pair_of_[pairs_[p].integer] = static_cast<int>(p);
    }
  }

  void Add(const Sample& sample) {
    FillInputs(floating_, float_session_, sample);
    FillInputs(integer_, integer_session_, sample);
    float_session_.Run();
    integer_session_.Run();
    for (size_t p = 0; p < pairs_.size(); ++p) {
      Read(p);
      gathered_[p].accumulated.Add(values_);
      gathered_[p].values.Add(values_.floating);
      gathered_[p].saturated +=
          CountSaturated(integer_.image().tensors[pairs_[p].integer], values_);
    }
    integer_session_.RunObserved([&](int command) { Isolate(command); });
  }

  std::vector<LayerResult> Results() const {
    std::vector<LayerResult> results;
    for (size_t p = 0; p < pairs_.size(); ++p) {
      const TensorRecord& record = integer_.image().tensors[pairs_[p].integer];
      const Gathered& gathered = gathered_[p];
      results.push_back({.tensor = record.name,
                         .command = pairs_[p].command,
                         .integer = record.quantized,
                         .dtype = record.dtype,
                         .moves = pairs_[p].moves,
                         .scale = record.scale,
                         .zero_point = record.zero_point,
                         .similarity = gathered.accumulated.tensor.Result(),
                         .channels = gathered.accumulated.channels.Result(),
                         .alone = gathered.alone.tensor.Result(),
                         .alone_channels = gathered.alone.channels.Result(),
                         .values = gathered.values,
                         .saturated = gathered.saturated});
    }
    return results;
  }

 private:
  void Read(size_t p) {
    ReadPair(pairs_[p], integer_, integer_session_, floating_, float_session_, &values_);
  }

  // Tensors that this command completes are compared, and then take the float program's values, so
  // that what reads them starts from those.
  void Isolate(int command) {
    for (const int32_t tensor : completed_[static_cast<size_t>(command)]) {
      const int p = pair_of_[tensor];
      if (p < 0) continue;
      Read(static_cast<size_t>(p));
      gathered_[p].alone.Add(values_);
      if (!pairs_[p].same_order) continue;
      StoreValues(integer_.image().tensors[tensor], values_.floating,
                  WritableTensor(integer_session_, tensor));
    }
  }

  Program floating_, integer_;
  Session float_session_, integer_session_;
  std::vector<TensorPair> pairs_;
  std::vector<std::vector<int32_t>> completed_;  // by command of the integer program
  std::vector<int> pair_of_;                     // by its tensor; -1: none
  std::vector<Gathered> gathered_;               // by pair
  PairValues values_;
};

}  // namespace

std::vector<LayerResult> CompareLayers(const Graph& floating, const Graph& integer,
                                       const Dataset& samples, int threads,
                                       const ProgressFunction& progress) {
  Comparison comparison(floating, integer, threads);
  ProgressReport report("comparing", samples.size(), samples.size() < 2 ? nullptr : progress);
  for (int64_t s = 0; s < samples.size(); ++s) {
    comparison.Add(samples.Read(s));
    report.Advance();
  }
  return comparison.Results();
}

}  // namespace rshift
