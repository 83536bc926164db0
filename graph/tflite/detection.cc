// Boxes of detectors: NON_MAX_SUPPRESSION, and the operator at the end of the detectors of the
// TensorFlow Object Detection API (SSD, EfficientDet-Lite). Their formulas:
// graph/onnx/detection.cc.
#include <flatbuffers/flexbuffers.h>

#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

// boxes [N, 4], scores [N], how many, two thresholds, and the sigma of a soft suppression ->
// places, with kScores the scores there, and how many there are.
template <bool kScores>
void TranslateSuppression(OpWriter& op) {
  Names inputs = {op.Real(0), op.Real(1), op.Scalar(op.Int(2, "max_output_size")), op.Real(3),
                  op.Real(4)};
  if (kScores) inputs.push_back(op.Real(5));
  const Names made = op.EmitManyOwn("NonMaxSuppression", inputs, 3, {});
  op.GiveStored(made[0]);
  if (kScores) op.GiveReal(made[1], 1);
  op.GiveStored(made[2], kScores ? 2 : 1);
}

// A map of numbers by name.
class Options {
 public:
  explicit Options(const OpWriter& op) {
    const std::span<const uint8_t> bytes = op.CustomBytes();
    std::vector<uint8_t> seen;
    op.Check(!bytes.empty() && flexbuffers::VerifyBuffer(bytes.data(), bytes.size(), &seen),
             "has options that are no flexbuffer; the file is damaged");
    const auto root = flexbuffers::GetRoot(bytes.data(), bytes.size());
    op.Check(root.IsMap(), "has options that are no map; the file is damaged");
    map_ = root.AsMap();
  }
  int64_t Int(const char* name, int64_t fallback) const {
    const auto found = map_[name];
    return found.IsNull() ? fallback : found.AsInt64();
  }
  bool Flag(const char* name) const { return !map_[name].IsNull() && map_[name].AsBool(); }
  float Float(const char* name) const { return map_[name].AsFloat(); }

 private:
  flexbuffers::Map map_ = flexbuffers::Map::EmptyMap();
};

void TranslateDetectionPostProcess(OpWriter& op) {
  const Options options(op);
  const OpAttributes attributes = {
      {"max_detections", options.Int("max_detections", 0)},
      {"max_classes_per_detection", options.Int("max_classes_per_detection", 0)},
      {"detections_per_class", options.Int("detections_per_class", 100)},
      {"use_regular_nms", int64_t{options.Flag("use_regular_nms")}},
      {"num_classes", options.Int("num_classes", 0)},
      {"nms_score_threshold", options.Float("nms_score_threshold")},
      {"nms_iou_threshold", options.Float("nms_iou_threshold")},
      {"y_scale", options.Float("y_scale")},
      {"x_scale", options.Float("x_scale")},
      {"h_scale", options.Float("h_scale")},
      {"w_scale", options.Float("w_scale")},
  };
  constexpr int kOutputs = 4;  // boxes, classes, scores, how many
  op.Check(op.OutputCount() == kOutputs, "has ", op.OutputCount(), " outputs, expected ", kOutputs);
  const Names made = op.EmitManyOwn("DetectionPostProcess", {op.Real(0), op.Real(1), op.Real(2)},
                                    kOutputs, attributes);
  for (int i = 0; i < kOutputs; ++i) op.GiveReal(made[i], i);
}

constexpr Entry kDetectionEntries[] = {
    {BuiltinOperator_NON_MAX_SUPPRESSION_V4, TranslateSuppression<false>},
    {BuiltinOperator_NON_MAX_SUPPRESSION_V5, TranslateSuppression<true>},
};

constexpr CustomEntry kCustomDetectionEntries[] = {
    {"TFLite_Detection_PostProcess", TranslateDetectionPostProcess},
};

}  // namespace

std::span<const Entry> DetectionEntries() { return kDetectionEntries; }
std::span<const CustomEntry> CustomDetectionEntries() { return kCustomDetectionEntries; }

}  // namespace rshift::tflite
