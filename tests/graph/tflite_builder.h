// Little .tflite files for tests.
#ifndef RSHIFT_TESTS_GRAPH_TFLITE_BUILDER_H_
#define RSHIFT_TESTS_GRAPH_TFLITE_BUILDER_H_

#include <string>
#include <vector>

#include "graph/tflite/schema.h"

namespace rshift::testing {

class TfliteBuilder {
 public:
  // Returns the index of the tensor; with `data` it is a constant.
  int Tensor(const std::string& name, const std::vector<int>& shape, tflite::TensorType type,
             float scale = 0, int64_t zero = 0, const std::vector<uint8_t>& data = {},
             flatbuffers::Offset<tflite::SparsityParameters> sparsity = {}) {
    uint32_t buffer = 0;
    if (!data.empty()) {
      buffer = static_cast<uint32_t>(buffers_.size());
      buffers_.push_back(tflite::CreateBuffer(fb_, fb_.CreateVector(data)));
    }
    flatbuffers::Offset<tflite::QuantizationParameters> quantization;
    if (scale > 0) {
      const std::vector<float> scales = {scale};
      const std::vector<int64_t> zeros = {zero};
      quantization = tflite::CreateQuantizationParameters(fb_, 0, 0, fb_.CreateVector(scales),
                                                          fb_.CreateVector(zeros));
    }
    tensors_.push_back(tflite::CreateTensor(fb_, fb_.CreateVector(shape), type, buffer,
                                            fb_.CreateString(name), quantization, false, sparsity));
    return static_cast<int>(tensors_.size()) - 1;
  }
  int Ints(const std::string& name, const std::vector<int>& shape, const std::vector<int>& data) {
    std::vector<uint8_t> bytes;
    for (const int element : data) {
      for (int shift = 0; shift < 32; shift += 8) {
        bytes.push_back(static_cast<uint8_t>(static_cast<uint32_t>(element) >> shift));
      }
    }
    return Tensor(name, shape, tflite::TensorType_INT32, 0, 0, bytes);
  }
  template <typename Options = tflite::NoOptions>
  void Operator(tflite::BuiltinOperator code, const std::vector<int>& inputs,
                const std::vector<int>& outputs, flatbuffers::Offset<Options> options = {},
                tflite::BuiltinOptions type = tflite::BuiltinOptions_NONE) {
    codes_.push_back(
        tflite::CreateOperatorCode(fb_, static_cast<int8_t>(code < 127 ? code : 127), 0, 1, code));
    operators_.push_back(tflite::CreateOperator(fb_, static_cast<uint32_t>(codes_.size() - 1),
                                                fb_.CreateVector(inputs), fb_.CreateVector(outputs),
                                                type, options.Union()));
  }
  // What was added so far is subgraph 1, which CALL_ONCE may name.
  void EndOtherGraph() {
    other_ = SubGraph({}, {}, "other");
    tensors_.clear();
    operators_.clear();
  }
  std::string Bytes(const std::vector<int>& inputs, const std::vector<int>& outputs,
                    uint32_t version = 3) {
    std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs = {SubGraph(inputs, outputs, "main")};
    if (!other_.IsNull()) graphs.push_back(other_);
    tflite::FinishModelBuffer(
        fb_, tflite::CreateModel(fb_, version, fb_.CreateVector(codes_), fb_.CreateVector(graphs),
                                 fb_.CreateString("test"), fb_.CreateVector(buffers_)));
    return {reinterpret_cast<const char*>(fb_.GetBufferPointer()), fb_.GetSize()};
  }
  flatbuffers::FlatBufferBuilder& fb() { return fb_; }

 private:
  flatbuffers::Offset<tflite::SubGraph> SubGraph(const std::vector<int>& inputs,
                                                 const std::vector<int>& outputs,
                                                 const char* name) {
    return tflite::CreateSubGraph(fb_, fb_.CreateVector(tensors_), fb_.CreateVector(inputs),
                                  fb_.CreateVector(outputs), fb_.CreateVector(operators_),
                                  fb_.CreateString(name));
  }

  flatbuffers::FlatBufferBuilder fb_;
  std::vector<flatbuffers::Offset<tflite::Buffer>> buffers_ = {tflite::CreateBuffer(fb_)};
  std::vector<flatbuffers::Offset<tflite::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<tflite::Operator>> operators_;
  flatbuffers::Offset<tflite::SubGraph> other_;
};

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_GRAPH_TFLITE_BUILDER_H_
