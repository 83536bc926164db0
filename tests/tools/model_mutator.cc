#include "tests/tools/model_mutator.h"

#include <array>
#include <limits>

#include "tests/graph/onnx_builder.h"

namespace rshift::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr std::array kFloats = {kNaN,   kInfinity, -kInfinity, 0.0f,   -0.0f,      1.0f,
                                1e-45f, 3e38f,     -3e38f,     1e-30f, -1.0f,      0.3f,
                                1e20f,  -1e-20f,   127.5f,     1e10f,  16777217.0f};
constexpr std::array<int64_t, 14> kInts = {0, 1, -1, 2,  3,  4,       5,
                                           7, 8, -2, 16, 33, 1 << 20, int64_t{1} << 33};
constexpr std::array kOperators = {
    "Add",        "Sub",         "Mul",    "Div",         "Max",       "Relu",
    "LeakyRelu",  "Sigmoid",     "Tanh",   "Softmax",     "MaxPool",   "Conv",
    "MatMul",     "AveragePool", "Concat", "Reshape",     "Transpose", "GlobalAveragePool",
    "Pad",        "Slice",       "Resize", "Clip",        "PRelu",     "Gather",
    "ReduceMean", "Exp",         "Log",    "HardSigmoid", "Elu",       "Tile",
    "Expand",     "Identity",    "Sqrt",   "Reciprocal"};

ModelBuilder Convolutions() {
  ModelBuilder b(13);
  b.Input("x", {1, 4, 6, 6}).Floats("w", {4, 2, 3, 3}).Floats("v", {4}).Floats("k", {4, 1, 3, 3});
  b.Node("Conv", {"x", "w", "v"}, {"c"}, {{"group", 2}, {"pads", {1, 1, 1, 1}}});
  b.Node("BatchNormalization", {"c", "v", "v", "v", "v"}, {"bn"}).Node("Relu", {"bn"}, {"r"});
  b.Node("Conv", {"r", "k"}, {"d"}, {{"group", 4}, {"pads", {1, 1, 1, 1}}, {"strides", {2, 2}}});
  b.Node("LeakyRelu", {"d"}, {"l"}, {{"alpha", 0.1f}});
  b.Node("ConvTranspose", {"l", "w"}, {"t"}, {{"group", 2}, {"strides", {2, 2}}});
  b.Node("PRelu", {"t", "s"}, {"p"}).Floats("s", {4, 1, 1}, {-0.25f, 0.1f, 0.2f, 0.3f});
  b.Node("MaxPool", {"p"}, {"m"}, {{"kernel_shape", {2, 2}}, {"ceil_mode", 1}});
  b.Node("AveragePool", {"r"}, {"a"}, {{"kernel_shape", {3, 3}}, {"pads", {1, 1, 1, 1}}});
  b.Node("AveragePool", {"r"}, {"a2"},
         {{"kernel_shape", {2, 2}}, {"strides", {2, 2}}, {"count_include_pad", 1}});
  b.Node("Add", {"a", "r"}, {"sum"}).Node("GlobalAveragePool", {"sum"}, {"g"});
  return b.Output("m").Output("g").Output("a2");
}

ModelBuilder Elementwise() {
  ModelBuilder b(13);
  b.Input("x", {1, 3, 4, 4}).Input("z", {1, 3, 4, 4}).Floats("c", {3, 1, 1}).Floats("n", {});
  b.Floats("w", {3, 3, 1, 1}).Node("Conv", {"x", "w"}, {"f"}).Node("Conv", {"z", "w"}, {"h"});
  b.Node("Add", {"f", "h"}, {"a"}).Node("Mul", {"a", "h"}, {"m"}).Node("Sub", {"m", "f"}, {"s"});
  b.Node("Mul", {"s", "c"}, {"mc"}).Node("Add", {"mc", "c"}, {"ac"});
  b.Node("Div", {"ac", "n"}, {"dn"}).Node("Pow", {"dn", "n"}, {"pn"});
  b.Node("Clip", {"pn", "lo", "hi"}, {"cl"}).Floats("lo", {}, {-1.0f}).Floats("hi", {}, {6.0f});
  b.Node("HardSigmoid", {"cl"}, {"hs"}, {{"alpha", 0.2f}, {"beta", 0.5f}});
  b.Node("Elu", {"hs"}, {"e"}, {{"alpha", 1.0f}}).Node("Selu", {"e"}, {"se"}, {{"alpha", 1.5f}});
  b.Node("ThresholdedRelu", {"se"}, {"tr"}, {{"alpha", 0.5f}}).Node("Celu", {"tr"}, {"ce"});
  b.Node("Sigmoid", {"ce"}, {"si"}).Node("Tanh", {"si"}, {"ta"}).Node("Exp", {"ta"}, {"ex"});
  b.Node("LRN", {"ex"}, {"lrn"}, {{"size", 3}, {"alpha", 0.1f}, {"beta", 0.5f}, {"bias", 1.0f}});
  b.Node("InstanceNormalization", {"lrn", "q", "q"}, {"in"}, {{"epsilon", 0.01f}});
  b.Floats("q", {3}).Node("Softmax", {"in"}, {"so"}, {{"axis", 1}}).Node("Sqrt", {"so"}, {"sq"});
  return b.Output("sq").Output("tr");
}

ModelBuilder Movements() {
  ModelBuilder b(13);
  b.Input("x", {1, 4, 4, 4}).Floats("w", {4, 4, 1, 1}).Node("Conv", {"x", "w"}, {"c"});
  b.Ints("pads", {8}, {0, 0, 1, 1, 0, 0, 1, 1}).Floats("pv", {}).Ints("shape", {3}, {1, 8, -1});
  b.Node("Pad", {"c", "pads", "pv"}, {"p"}).Node("Concat", {"p", "p"}, {"cat"}, {{"axis", 1}});
  b.Ints("st", {1}, {1}).Ints("en", {1}, {5}).Ints("ax", {1}, {3}).Ints("sp", {1}, {2});
  b.Node("Slice", {"cat", "st", "en", "ax", "sp"}, {"sl"});
  b.Node("Transpose", {"sl"}, {"t"}, {{"perm", {0, 2, 3, 1}}}).Floats("rs", {4}, {1, 1, 2, 2});
  b.Node("Resize", {"c", "", "rs"}, {"up"}, {{"mode", "nearest"}});
  b.Node("Resize", {"c", "", "rs"}, {"lin"}, {{"mode", "linear"}});
  b.Node("DepthToSpace", {"up"}, {"ds"}, {{"blocksize", 2}});
  b.Ints("idx", {2}, {0, 2}).Node("Gather", {"ds", "idx"}, {"ga"}, {{"axis", 2}});
  b.Ints("rep", {4}, {1, 1, 2, 1}).Node("Tile", {"ga", "rep"}, {"ti"});
  b.Ints("big", {4}, {2, 1, 4, 16}).Node("Expand", {"ti", "big"}, {"xp"});
  b.Node("ReduceMean", {"c"}, {"rm"}, {{"axes", {2, 3}}}).Node("ArgMax", {"rm"}, {"am"});
  b.Node("ReduceMax", {"t"}, {"rx"}, {{"axes", {1}}}).Node("Reshape", {"p", "shape"}, {"re"});
  b.Node("Split", {"c"}, {"s0", "s1"}, {{"axis", 1}}).Node("Mul", {"s0", "s1"}, {"sm"});
  return b.Output("xp").Output("lin").Output("am").Output("rx").Output("re").Output("sm");
}

ModelBuilder Products() {
  ModelBuilder b(17);
  b.Input("x", {1, 6, 8})
      .Floats("w", {8, 8})
      .Floats("v", {8})
      .Floats("g", {48, 5})
      .Floats("e", {5});
  b.Node("MatMul", {"x", "w"}, {"q"}).Node("Add", {"q", "v"}, {"qb"});
  b.Node("LayerNormalization", {"qb", "v", "v"}, {"ln"}, {{"epsilon", 0.001f}});
  b.Node("Transpose", {"ln"}, {"t"}, {{"perm", {0, 2, 1}}}).Node("MatMul", {"q", "t"}, {"qk"});
  b.Node("Softmax", {"qk"}, {"sm"}, {{"axis", -1}}).Node("MatMul", {"sm", "ln"}, {"at"});
  b.Node("Add", {"at", "x"}, {"res"}).Node("Flatten", {"res"}, {"f"});
  b.Node("Gemm", {"f", "g", "e"}, {"y"}, {{"alpha", 0.5f}, {"beta", 2.0f}});
  b.Node("LogSoftmax", {"y"}, {"ls"}).Node("Relu", {"y"}, {"r"}).Node("Neg", {"r"}, {"ne"});
  return b.Output("ls").Output("ne");
}

// Every node is an output, so that what one change does is not refused further down.
ModelBuilder Branches() {
  ModelBuilder b(13);
  b.Input("x", {1, 4, 6, 6}).Input("f", {2, 8}).Floats("w", {8, 3}).Floats("v", {4, 1, 1});
  b.Floats("k", {2, 4, 1, 1}).Floats("d", {4, 1, 2, 2}).Floats("row", {8}).Floats("e", {2, 8});
  b.Ints("none", {1}, {1}).Ints("end", {1}, {4}).Ints("axis", {1}, {1}).Ints("flat", {2}, {1, -1});
  b.Node("MatMul", {"f", "w"}, {"y0"}).Node("Conv", {"x", "k"}, {"y1"});
  b.Node("Conv", {"x", "d"}, {"y2"}, {{"group", 4}, {"dilations", {2, 2}}});
  b.Node("Add", {"x", "v"}, {"y3"})
      .Node("Mul", {"x", "v"}, {"y4"})
      .Node("Sub", {"f", "row"}, {"y5"});
  b.Node("Concat", {"f", "e"}, {"y6"}, {{"axis", 0}})
      .Node("Slice", {"x", "none", "end", "axis"}, {"y7"});
  b.Node("MaxPool", {"x"}, {"y8"}, {{"kernel_shape", {3, 3}}, {"pads", {1, 1, 1, 1}}});
  b.Node("AveragePool", {"x"}, {"y9"}, {{"kernel_shape", {2, 3}}, {"strides", {2, 2}}});
  b.Node("Reshape", {"y7", "flat"}, {"z0"})
      .Node("Softmax", {"f"}, {"z1"})
      .Node("Relu", {"x"}, {"z2"});
  b.Node("ReduceMean", {"x"}, {"z3"}, {{"axes", {2, 3}}}).Node("PRelu", {"x", "v"}, {"z4"});
  b.Node("Gather", {"f", "none"}, {"z5"}, {{"axis", 1}}).Node("MatMul", {"y0", "z6w"}, {"z6"});
  b.Floats("z6w", {3, 2}).Node("Transpose", {"y7"}, {"z7"}, {{"perm", {0, 2, 3, 1}}});
  b.Node("Conv", {"y7", "z8w"}, {"z8"}).Floats("z8w", {2, 3, 1, 1});
  b.Node("ReduceSum", {"y7", "axis"}, {"z9"}, {{"keepdims", 0}});
  for (const char* row : {"y", "z"}) {
    for (int i = 0; i < 10; ++i) b.Output(row + std::to_string(i));
  }
  return b;
}

template <typename List>
auto Pick(const List& list, std::mt19937& random) {
  return list[random() % list.size()];
}

std::string ChangeAttribute(onnx::NodeProto& node, std::mt19937& random) {
  if (node.attribute_size() == 0) return "nothing";
  const int at = static_cast<int>(random() % node.attribute_size());
  if (random() % 8 == 0) {
    node.mutable_attribute()->DeleteSubrange(at, 1);
    return "attribute gone";
  }
  auto& a = *node.mutable_attribute(at);
  if (a.type() == onnx::AttributeProto::FLOAT) a.set_f(Pick(kFloats, random));
  if (a.type() == onnx::AttributeProto::INT) a.set_i(Pick(kInts, random));
  if (a.ints_size() > 0)
    a.set_ints(static_cast<int>(random() % a.ints_size()), Pick(kInts, random));
  return Cat("attribute ", a.name(), " = ", a.f(), " ", a.i(), " ", a.ShortDebugString());
}

std::string ChangeConstant(onnx::GraphProto& graph, std::mt19937& random) {
  auto& t = *graph.mutable_initializer(static_cast<int>(random() % graph.initializer_size()));
  if (random() % 4 == 0 && t.dims_size() > 0) {
    const int d = static_cast<int>(random() % t.dims_size());
    t.set_dims(d, random() % 3);  // with the elements that this leaves, so that it is well-formed
    int64_t count = 1;
    for (int64_t dim : t.dims()) count *= dim;
    if (t.float_data_size() > 0) t.mutable_float_data()->Resize(static_cast<int>(count), 0.5f);
    if (t.int64_data_size() > 0) t.mutable_int64_data()->Resize(static_cast<int>(count), 1);
    return Cat("shape of ", t.name(), " [", d, "] = ", t.dims(d));
  }
  const bool all = random() % 3 == 0;
  const float value = Pick(kFloats, random);
  for (int i = 0; i < t.float_data_size(); ++i) {
    if (all || i == static_cast<int>(random() % t.float_data_size())) t.set_float_data(i, value);
  }
  if (t.int64_data_size() > 0) {
    t.set_int64_data(static_cast<int>(random() % t.int64_data_size()), Pick(kInts, random));
  }
  return Cat("elements of ", t.name(), " = ", value, all ? " (all)" : "");
}

std::string ChangeInputShape(onnx::GraphProto& graph, std::mt19937& random) {
  auto* type = graph.mutable_input(0)->mutable_type()->mutable_tensor_type();
  auto* dim =
      type->mutable_shape()->mutable_dim(static_cast<int>(random() % type->shape().dim_size()));
  dim->set_dim_value(1 + random() % 9);
  return Cat("a dimension of x = ", dim->dim_value());
}

std::string Rewire(onnx::GraphProto& graph, onnx::NodeProto& node, std::mt19937& random) {
  if (node.input_size() == 0) return "nothing";
  const auto& other = graph.node(static_cast<int>(random() % graph.node_size()));
  std::string name = other.output(0);
  if (random() % 3 == 0)
    name = graph.initializer(static_cast<int>(random() % graph.initializer_size())).name();
  node.set_input(static_cast<int>(random() % node.input_size()), name);
  return Cat("an input of ", node.output(0), " = ", name);
}

}  // namespace

std::vector<NamedModel> ModelsToMutate() {
  return {{"convolutions", Convolutions().model},
          {"elementwise", Elementwise().model},
          {"movements", Movements().model},
          {"products", Products().model},
          {"branches", Branches().model}};
}

std::string MutateModel(onnx::ModelProto& model, std::mt19937& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  std::string what;
  for (uint32_t changes = 1 + random() % 3; changes > 0; --changes) {
    auto& node = *graph.mutable_node(static_cast<int>(random() % graph.node_size()));
    const uint32_t kind = random() % 10;
    if (kind < 3) what += Cat(node.op_type(), " ", ChangeAttribute(node, random));
    if (kind >= 3 && kind < 6) what += ChangeConstant(graph, random);
    if (kind == 6) what += ChangeInputShape(graph, random);
    if (kind == 7) what += Rewire(graph, node, random);
    if (kind > 7) {
      node.set_op_type(Pick(kOperators, random));
      what += Cat(node.output(0), " is ", node.op_type());
    }
    what += "; ";
  }
  return what;
}

}  // namespace rshift::testing
