// DepthToSpace and SpaceToDepth: the transposition they become, executed, against the ONNX
// definition.
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

// Elements of an NCHW tensor [1, C, H, W] as plain numbers, and how they lie in memory.
struct Image {
  int64_t c = 0, h = 0, w = 0;
  bool nhwc = false;
  std::vector<uint8_t> bytes;

  int64_t At(int64_t ic, int64_t ih, int64_t iw) const {
    return nhwc ? (ih * w + iw) * c + ic : (ic * h + ih) * w + iw;
  }
};

Image MakeImage(int64_t c, int64_t h, int64_t w, bool nhwc) {
  Image image{c, h, w, nhwc, std::vector<uint8_t>(c * h * w)};
  return image;
}

// ONNX: output (n, c, h, w) of DepthToSpace is input (depth, h / b, w / b).
Image ExpectedDepthToSpace(const Image& x, int64_t b, bool crd) {
  Image y = MakeImage(x.c / (b * b), x.h * b, x.w * b, x.nhwc);
  for (int64_t c = 0; c < y.c; ++c) {
    for (int64_t h = 0; h < y.h; ++h) {
      for (int64_t w = 0; w < y.w; ++w) {
        const int64_t bh = h % b, bw = w % b;
        const int64_t depth = crd ? (c * b + bh) * b + bw : (bh * b + bw) * y.c + c;
        y.bytes[y.At(c, h, w)] = x.bytes[x.At(depth, h / b, w / b)];
      }
    }
  }
  return y;
}

Image ExpectedSpaceToDepth(const Image& x, int64_t b) {
  Image y = MakeImage(x.c * b * b, x.h / b, x.w / b, x.nhwc);
  for (int64_t c = 0; c < x.c; ++c) {
    for (int64_t h = 0; h < x.h; ++h) {
      for (int64_t w = 0; w < x.w; ++w) {
        y.bytes[y.At((h % b * b + w % b) * x.c + c, h / b, w / b)] = x.bytes[x.At(c, h, w)];
      }
    }
  }
  return y;
}

// Executes the program's one transposition.
std::vector<uint8_t> RunTranspose(const ProgramImage& image, const std::vector<uint8_t>& input) {
  EXPECT_EQ(OpcodesOf(image), std::vector{Opcode::kTranspose});
  const Command& command = image.commands[0];
  const std::vector<int64_t> perm = ListOf(image, command, Field::kList);
  const Shape out = RecordOf(image, command, Field::kDst).shape;
  const Shape in_strides = Strides(RecordOf(image, command, Field::kSrc).shape);
  const Shape out_strides = Strides(out);
  std::vector<uint8_t> result(input.size());
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t source = 0;
    for (size_t d = 0; d < out.size(); ++d) {
      source += static_cast<int64_t>(i) / out_strides[d] % out[d] * in_strides[perm[d]];
    }
    result[i] = input[source];
  }
  return result;
}

Kind KindOf(const Image& image) {
  if (image.nhwc) return QuantizedNhwc({1, image.h, image.w, image.c}, {0.5f, 0});
  return QuantizedPlain({1, image.c, image.h, image.w}, {0.5f, 0});
}

void ExpectMovement(const Op& op, const Image& x, const Image& expected) {
  TestGraph test;
  test.Output(test.Node("y", KindOf(expected), op, {test.Input("x", KindOf(x))}));
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(RunTranspose(image, x.bytes), expected.bytes);
  EXPECT_EQ(image.outputs[0].tensor, FindTensor(image, "y"));
  EXPECT_EQ(RecordOf(image, "y").offset, RecordOf(image, image.commands[0], Field::kDst).offset);
}

TEST(LowerDepthToSpace, MovesWhatOnnxSaysInBothLayoutsAndModes) {
  for (const bool nhwc : {false, true}) {
    for (const bool crd : {false, true}) {
      Image x = MakeImage(12, 3, 2, nhwc);
      std::iota(x.bytes.begin(), x.bytes.end(), 0);
      ExpectMovement(DepthToSpace{2, crd}, x, ExpectedDepthToSpace(x, 2, crd));
    }
  }
}

TEST(LowerSpaceToDepth, MovesWhatOnnxSaysInBothLayouts) {
  for (const bool nhwc : {false, true}) {
    Image x = MakeImage(3, 4, 6, nhwc);
    std::iota(x.bytes.begin(), x.bytes.end(), 0);
    ExpectMovement(SpaceToDepth{2}, x, ExpectedSpaceToDepth(x, 2));
  }
}

TEST(LowerSpaceToDepth, AnObservedProgramWritesTheValueUnderItsName) {
  TestGraph test;
  const ValueId x = test.Input("x", Nhwc({1, 4, 4, 1}));
  test.Output(test.Node("y", Nhwc({1, 2, 2, 4}), SpaceToDepth{2}, {x}));
  const ProgramImage image = CompileChecked(test, true);
  ASSERT_EQ(OpcodesOf(image), (std::vector{Opcode::kTranspose, Opcode::kCopyInto}));
  EXPECT_EQ(RecordOf(image, image.commands[1], Field::kDst).name, "y");
}

TEST(LowerDepthToSpace, RefusesABlockThatDoesNotDivide) {
  TestGraph test;
  const ValueId x = test.Input("x", Nhwc({1, 2, 2, 6}));
  test.Output(test.Node("y", Nhwc({1, 4, 4, 1}), DepthToSpace{2, false}, {x}));
  CompileError(test, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace rshift
