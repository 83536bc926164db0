// Resize as products with constant matrices, one for each dimension: forms that no command has.
#ifndef RSHIFT_GRAPH_ONNX_RESIZE_MATRIX_H_
#define RSHIFT_GRAPH_ONNX_RESIZE_MATRIX_H_

#include <string>
#include <vector>

#include "graph/onnx/expr.h"

namespace rshift {

struct MatrixResize {
  ResizeMode mode = ResizeMode::kNearest;
  NearestMode nearest = NearestMode::kRoundPreferFloor;
  std::string coordinate;  // as ONNX spells it
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
  // Of tf_crop_and_resize: for each dimension where the part begins and ends, from 0 to 1.
  std::vector<float> starts, ends;
  float extrapolation = 0.0f;
  Shape out;
  std::vector<float> scales;  // for each dimension
};

Expr ResizedByMatrices(const Expr& x, const MatrixResize& resize);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_RESIZE_MATRIX_H_
