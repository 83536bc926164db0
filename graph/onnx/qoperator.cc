// Operators on integers with the scales beside them (ONNX Runtime's QOperator format): written as
// DequantizeLinear, the float operator and QuantizeLinear, which quantize/ makes integer again.
#include "graph/onnx/expansion.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

void RefuseChannelsLast(const OnnxNode& node) {
  node.CheckSupported(node.Int("channels_last", 0) == 0,
                      "has channels_last 1; only channels in dimension 1 are supported");
}

// s32 of scale S_a S_b, along `axis` where there are several; empty where there is no such input.
std::string Bias(Expansion& e, int bias, int scale_a, int scale_b, int64_t axis) {
  if (!e.node().HasInput(bias)) return "";
  const std::string scale = e.Make("Mul", {e.In(scale_a), e.In(scale_b)});
  return e.With("axis", axis).Make("DequantizeLinear", {e.In(bias), scale});
}

void ImportQLinearConv(OnnxNode& node) {
  Expansion e(node);
  const std::string x = e.Dequantized(0), w = e.Dequantized(3, 0);
  const std::string bias = Bias(e, 8, 1, 4, 0);
  e.GiveQuantized(e.KeepAll().Make("Conv", {x, w, bias}), 6);
}

int64_t LastAxis(const OnnxNode& node, int i) {
  return static_cast<int64_t>(node.ShapeOf(i).size()) - 1;
}

void ImportQLinearMatMul(OnnxNode& node) {
  Expansion e(node);
  const std::string a = e.Dequantized(0, LastAxis(node, 0) - 1);
  const std::string b = e.Dequantized(3, LastAxis(node, 3));
  e.GiveQuantized(e.Make("MatMul", {a, b}), 6);
}

// alpha multiplies C as well: its scale is that of the product's accumulator.
void ImportQGemm(OnnxNode& node) {
  Expansion e(node);
  const bool transposed = node.Int("transB", 0) != 0;
  const std::string a = e.Dequantized(0), b = e.Dequantized(3, transposed ? 0 : 1);
  const std::string c = Bias(e, 6, 1, 4, node.HasInput(6) ? LastAxis(node, 6) : 0);
  e.Keep({"alpha", "transA", "transB"}).With("beta", node.Float("alpha", 1.0f));
  if (!node.HasInput(7)) return e.Give("Gemm", {a, b, c});
  e.GiveQuantized(e.Make("Gemm", {a, b, c}), 7);
}

void ImportBinary(OnnxNode& node, const char* op) {
  Expansion e(node);
  const std::string a = e.Dequantized(0), b = e.Dequantized(3);
  e.GiveQuantized(e.Make(op, {a, b}), 6);
}

void ImportUnary(OnnxNode& node, const char* op, std::initializer_list<const char*> attributes) {
  RefuseChannelsLast(node);
  Expansion e(node);
  const std::string x = e.Dequantized(0);
  e.GiveQuantized(e.Keep(attributes).Make(op, {x}), 3);
}

void ImportQLinearAveragePool(OnnxNode& node) {
  ImportUnary(node, "AveragePool",
              {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"});
}

// Its own attribute says which opset's Softmax it is.
void ImportQLinearSoftmax(OnnxNode& node) {
  const int64_t opset = node.Int("opset", 13);
  std::string x;
  {
    Expansion e(node);
    x = e.Dequantized(0);
  }
  {
    Expansion e(node, opset);
    x = e.Keep({"axis"}).Make("Softmax", {x});
  }
  Expansion(node).GiveQuantized(x, 3);
}

void ImportQLinearConcat(OnnxNode& node) {
  Expansion e(node);
  std::vector<std::string> parts;
  for (int i = 2; i < node.InputCount(); i += 3) parts.push_back(e.Dequantized(i));
  e.GiveQuantized(e.Keep({"axis"}).Make("Concat", parts), 0);
}

void ImportQLinearWhere(OnnxNode& node) {
  Expansion e(node);
  const std::string a = e.Dequantized(1), b = e.Dequantized(4);
  e.GiveQuantized(e.Make("Where", {e.In(0), a, b}), 7);
}

constexpr ImportEntry kQOperatorImports[] = {
    {"QLinearConv", ImportQLinearConv},
    {"QLinearMatMul", ImportQLinearMatMul},
    {"com.microsoft:QLinearConv", ImportQLinearConv},
    {"com.microsoft:QGemm", ImportQGemm},
    {"com.microsoft:QLinearAdd", [](OnnxNode& node) { ImportBinary(node, "Add"); }},
    {"com.microsoft:QLinearMul", [](OnnxNode& node) { ImportBinary(node, "Mul"); }},
    {"com.microsoft:QLinearAveragePool", ImportQLinearAveragePool},
    {"com.microsoft:QLinearGlobalAveragePool",
     [](OnnxNode& node) { ImportUnary(node, "GlobalAveragePool", {}); }},
    {"com.microsoft:QLinearLeakyRelu",
     [](OnnxNode& node) { ImportUnary(node, "LeakyRelu", {"alpha"}); }},
    {"com.microsoft:QLinearSigmoid", [](OnnxNode& node) { ImportUnary(node, "Sigmoid", {}); }},
    {"com.microsoft:QLinearReduceMean",
     [](OnnxNode& node) {
       ImportUnary(node, "ReduceMean", {"axes", "keepdims"});
     }},
    {"com.microsoft:QLinearSoftmax", ImportQLinearSoftmax},
    {"com.microsoft:QLinearConcat", ImportQLinearConcat},
    {"com.microsoft:QLinearWhere", ImportQLinearWhere},
    {"com.microsoft:QuantizeLinear",
     [](OnnxNode& node) {
       Expansion(node).KeepAll().Give("QuantizeLinear",
                                      {node.proto().input().begin(), node.proto().input().end()});
     }},
    {"com.microsoft:DequantizeLinear",
     [](OnnxNode& node) {
       Expansion(node).KeepAll().Give("DequantizeLinear",
                                      {node.proto().input().begin(), node.proto().input().end()});
     }},
};

}  // namespace

std::span<const ImportEntry> QOperatorImports() { return kQOperatorImports; }

}  // namespace rshift
