#include "pipeline/tensor_view.h"

#include <gtest/gtest.h>

namespace rshift {
namespace {

TensorRecord Record(DType dtype, Layout layout, Shape shape) {
  TensorRecord record;
  record.name = "t";
  record.dtype = dtype;
  record.layout = layout;
  record.shape = std::move(shape);
  return record;
}

TEST(TensorViewTest, NhwcTensorsLeaveInOnnxOrder) {
  // Two pixels in a row, three channels.
  const TensorRecord record = Record(DType::kU8, Layout::kNhwc, {1, 1, 2, 3});
  const std::vector<uint8_t> memory{1, 2, 3, 11, 12, 13};
  EXPECT_EQ(OnnxShape(record), (Shape{1, 3, 1, 2}));
  EXPECT_EQ(OnnxBytes(record, std::as_bytes(std::span(memory))),
            (std::vector<uint8_t>{1, 11, 2, 12, 3, 13}));
}

TEST(TensorViewTest, QuantizedTensorsBecomeRealValues) {
  TensorRecord record = Record(DType::kS8, Layout::kPlain, {3});
  record.quantized = true;
  record.scale = 0.5f;
  record.zero_point = -2;
  const std::vector<int8_t> memory{-2, 0, -128};
  EXPECT_EQ(OnnxFloats(record, std::as_bytes(std::span(memory))), (std::vector<float>{0, 1, -63}));
  const NumpyArray raw = ToArray(record, std::as_bytes(std::span(memory)), true);
  EXPECT_EQ(raw.dtype, DType::kS8);
  EXPECT_EQ(ToArray(record, std::as_bytes(std::span(memory)), false).dtype, DType::kF32);
}

}  // namespace
}  // namespace rshift
