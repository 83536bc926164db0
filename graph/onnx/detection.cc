// TensorFlow Lite's ends of detectors, as formulas (graph/tflite/detection.cc). Their results are
// as long as they can become: what lies behind the boxes that were found is 0.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/onnx/elements.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();

// What a suppression left: how many boxes, [1]; class and box of each, [entries].
struct Kept {
  Expr count, classes, boxes;
  // Which of the first `n` entries count.
  Expr Counts(int64_t n) const { return Less(Iota(count.node(), n, 1, 0), count); }
};

// boxes [N, 4], scores [C, N].
Kept Suppress(const Expr& boxes, const Expr& scores, const NonMaxSuppression& op) {
  const int64_t n = boxes.dim(0), classes = scores.dim(0);
  NonMaxSuppression bounded = op;
  bounded.most = std::clamp<int64_t>(op.most, 0, n);
  const int64_t rows = classes * bounded.most;
  const Expr list = Unsqueezed(boxes, 0).Emit(
      bounded, {Unsqueezed(boxes, 0).id(), Unsqueezed(scores, 0).id()}, DType::kS64, {1 + rows, 3});
  const Expr entries = Part(list, 0, 1, 1 + rows);
  const auto column = [&](int64_t i) { return Reshaped(At(entries, 1, i), {rows}); };
  return {Reshaped(At(At(list, 0, 0), 1, 0), {1}), column(1), column(2)};
}

// x where `counts`, else 0; both begin with the same dimension. As long as `length`.
Expr Held(const Expr& x, const Expr& counts, int64_t length) {
  Shape along(x.rank(), 1);
  along[0] = x.dim(0);
  const Expr held = Select(Reshaped(counts, along), x, Number(x.node(), 0.0, x.type()));
  return Padded(held, 0, 0, length - x.dim(0));
}

void ImportTfliteSuppression(OnnxNode& node) {
  const Expr boxes = FloatIn(node, 0), scores = FloatIn(node, 1);
  node.Check(
      boxes.rank() == 2 && boxes.dim(1) == 4 && scores.rank() == 1 && scores.dim(0) == boxes.dim(0),
      "boxes ", ToString(boxes.shape()), " and scores ", ToString(scores.shape()),
      " do not fit, expected [N, 4] and [N]");
  const std::vector<int64_t> most = node.ConstantInts(2, "max_output_size");
  node.Check(most.size() == 1 && most[0] >= 0, "max_output_size is not one number of 0 or more");
  CheckConstantSize(node, most[0]);
  if (node.HasInput(5))
    node.CheckSupported(NumberIn(node, 5, "soft_nms_sigma", 0.0) == 0.0,
                        "has a soft_nms_sigma; only hard suppression is supported");
  // Here a box goes that overlaps another by the threshold itself.
  const float iou =
      std::nextafter(static_cast<float>(NumberIn(node, 3, "iou_threshold", 0.0)), -kInfinity);
  const Kept kept =
      Suppress(boxes, Unsqueezed(scores, 0),
               {.most = most[0],
                .iou_threshold = iou,
                .score_threshold = static_cast<float>(NumberIn(node, 4, "score_threshold", 0.0)),
                .has_score_threshold = true});
  const Expr counts = kept.Counts(kept.boxes.dim(0));
  Give(CastTo(Padded(kept.boxes, 0, 0, most[0] - kept.boxes.dim(0)), DType::kS32));
  if (node.OutputUsed(1)) Give(Held(Gathered(scores, kept.boxes, 0), counts, most[0]), 1);
  if (node.OutputUsed(2)) Give(CastTo(Reshaped(kept.count, {}), DType::kS32), 2);
}

// Offsets from anchors, both as center and size, to corners: [N, 4].
Expr DecodeBoxes(OnnxNode& node, const Expr& offsets, const Expr& anchors) {
  const auto offset = [&](int64_t i, const char* scale) {
    const float number = node.Float(scale, 1.0f);
    node.Check(number > 0.0f, scale, " is ", number, ", expected more than 0");
    return At(offsets, 1, i) / static_cast<double>(number);
  };
  const Expr y = offset(0, "y_scale") * At(anchors, 1, 2) + At(anchors, 1, 0);
  const Expr x = offset(1, "x_scale") * At(anchors, 1, 3) + At(anchors, 1, 1);
  const Expr half_h = 0.5 * Apply(UnaryOp::kExp, offset(2, "h_scale")) * At(anchors, 1, 2);
  const Expr half_w = 0.5 * Apply(UnaryOp::kExp, offset(3, "w_scale")) * At(anchors, 1, 3);
  return Joined({y - half_h, x - half_w, y + half_h, x + half_w}, 1);
}

// What leaves the operator, [detections, ...]; those behind `count` are 0.
struct Detections {
  Expr boxes, classes, scores, count;
};

// The boxes' best scores are suppressed together; each box that is left has its best classes.
Detections FastDetections(const Expr& boxes, const Expr& scores, const NonMaxSuppression& op,
                          int64_t classes_each) {
  const int64_t n = boxes.dim(0), found = std::min(classes_each, scores.dim(1));
  const Kept kept = Suppress(boxes, Reshaped(Reduced(ReduceOp::kMax, scores, {-1}), {1, n}), op);
  const int64_t rows = kept.boxes.dim(0);
  const Expr left = Gathered(scores, kept.boxes, 0);
  const Expr best =
      found == 1 ? ArgMaxOf(left, -1) : left.Emit(TopK{}, {left.id()}, DType::kS64, {rows, found});
  const Expr best_scores = Gathered(Flat(left), PlacesAlong(best, left.shape(), 1), 0);
  const Expr each = Expanded(Unsqueezed(Gathered(boxes, kept.boxes, 0), 1), {rows, found, 4});
  const Expr counts = kept.Counts(rows);
  // [rows, found, ...] -> [most * classes_each, ...]. Of classes that there are not all is 0.
  const auto all = [&](const Expr& x) {
    const Expr whole = Padded(Held(x, counts, op.most), 1, 0, classes_each - found);
    Shape shape{op.most * classes_each};
    for (size_t d = 2; d < whole.rank(); ++d) shape.push_back(whole.dim(d));
    return Reshaped(whole, shape);
  };
  return {all(each), all(CastTo(best, DType::kF32)), all(best_scores), kept.count};
}

// Each class is suppressed alone; the best of all are left.
Detections RegularDetections(const Expr& boxes, const Expr& scores, NonMaxSuppression op,
                             int64_t per_class) {
  OnnxNode& node = boxes.node();
  const int64_t n = boxes.dim(0), most = op.most;
  op.most = std::min(per_class, most);
  const Expr by_class = Transposed(scores, {1, 0});
  const Kept kept = Suppress(boxes, by_class, op);
  const int64_t rows = kept.boxes.dim(0), left = std::min(rows, most);
  const Expr places = kept.classes * static_cast<double>(n) + kept.boxes;
  const Expr ranked = Unsqueezed(
      Select(kept.Counts(rows), Gathered(Flat(by_class), places, 0), Number(node, kLowest)), 0);
  const Expr best = Reshaped(ranked.Emit(TopK{}, {ranked.id()}, DType::kS64, {1, left}), {left});
  const Expr count = Min(kept.count, Ints(node, {1}, {left}));
  const Expr counts = Less(Iota(node, left, 1, 0), count);
  const auto chosen = [&](const Expr& x) { return Held(Gathered(x, best, 0), counts, most); };
  return {chosen(Gathered(boxes, kept.boxes, 0)), chosen(CastTo(kept.classes, DType::kF32)),
          chosen(Gathered(Flat(by_class), places, 0)), count};
}

void ImportDetectionPostProcess(OnnxNode& node) {
  const Expr offsets = FloatIn(node, 0), scores = FloatIn(node, 1), anchors = FloatIn(node, 2);
  const int64_t classes = node.Int("num_classes", 0), most = node.Int("max_detections", 0);
  const int64_t classes_each = node.Int("max_classes_per_detection", 0);
  const int64_t per_class = node.Int("detections_per_class", 0);
  node.Check(offsets.rank() == 3 && scores.rank() == 3 && anchors.rank() == 2 &&
                 offsets.dim(0) == 1 && scores.dim(0) == 1 && offsets.dim(1) == scores.dim(1) &&
                 anchors.dim(0) == offsets.dim(1) && offsets.dim(2) >= 4 && anchors.dim(1) == 4,
             "box encodings ", ToString(offsets.shape()), ", class predictions ",
             ToString(scores.shape()), " and anchors ", ToString(anchors.shape()),
             " do not fit, expected [1, N, 4 or more], [1, N, C] and [N, 4]");
  node.Check(classes >= 1 && classes <= scores.dim(2), "num_classes is ", classes, " of ",
             scores.dim(2), " class predictions");
  node.Check(most >= 1 && classes_each >= 1 && per_class >= 1, "max_detections is ", most,
             ", max_classes_per_detection ", classes_each, ", detections_per_class ", per_class,
             ", expected 1 or more");
  CheckConstantSize(node, most);
  CheckConstantSize(node, most * std::min<int64_t>(classes_each, classes + 1));
  node.CheckSupported(classes_each <= 1000, "max_classes_per_detection is ", classes_each,
                      ", expected at most 1000");
  const int64_t n = offsets.dim(1);
  const Expr boxes = DecodeBoxes(node, Reshaped(offsets, {n, offsets.dim(2)}), anchors);
  // A first class of theirs is the background.
  const Expr by_box =
      Part(Reshaped(scores, {n, scores.dim(2)}), 1, scores.dim(2) - classes, scores.dim(2));
  // Here a box stays whose score is the threshold itself.
  const NonMaxSuppression op{
      .most = most,
      .iou_threshold = node.Float("nms_iou_threshold", 0.5f),
      .score_threshold = std::nextafter(node.Float("nms_score_threshold", 0.0f), -kInfinity),
      .has_score_threshold = true};
  node.Check(op.iou_threshold > 0.0f && op.iou_threshold <= 1.0f, "nms_iou_threshold is ",
             op.iou_threshold, ", expected more than 0 and at most 1");
  const bool regular = node.Int("use_regular_nms", 0) != 0;
  const Detections found = regular ? RegularDetections(boxes, by_box, op, per_class)
                                   : FastDetections(boxes, by_box, op, classes_each);
  const int64_t length = most * classes_each;
  const auto give = [&](const Expr& x, int i) {
    const Expr whole = Padded(x, 0, 0, length - x.dim(0));
    if (node.OutputUsed(i)) Give(Unsqueezed(whole, 0), i);
  };
  give(found.boxes, 0);
  give(found.classes, 1);
  give(found.scores, 2);
  if (node.OutputUsed(3)) Give(CastTo(found.count, DType::kF32), 3);
}

constexpr ImportEntry kDetectionImports[] = {
    {"tflite:DetectionPostProcess", ImportDetectionPostProcess},
    {"tflite:NonMaxSuppression", ImportTfliteSuppression},
};

}  // namespace

std::span<const ImportEntry> DetectionImports() { return kDetectionImports; }

}  // namespace rshift
