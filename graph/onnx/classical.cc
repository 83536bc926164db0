// Operators of the domain ai.onnx.ml that exporters of scikit-learn put around a neural network:
// they scale and pick features.
#include "graph/onnx/table.h"

namespace rshift {
namespace {

Expr FloatsOf(const Expr& x) { return x.type() == DType::kF32 ? x : CastTo(x, DType::kF32); }

// An attribute of one number, or of one for each feature (the last dimension).
Expr PerFeature(OnnxNode& node, const char* attribute, const Expr& x, float fallback) {
  std::vector<float> numbers = node.Floats(attribute);
  if (numbers.empty()) numbers = {fallback};
  const auto count = static_cast<int64_t>(numbers.size());
  const int64_t features = x.rank() == 0 ? 1 : x.dim(x.rank() - 1);
  node.Check(count == 1 || count == features, "attribute ", Quoted(attribute), " has ", count,
             " numbers for ", features, " features");
  return Floats(node, {count}, numbers);
}

void ImportScaler(OnnxNode& node) {
  const Expr x = FloatsOf(In(node, 0));
  Give((x - PerFeature(node, "offset", x, 0.0f)) * PerFeature(node, "scale", x, 1.0f));
}

// Rows of zeros stay.
void ImportNormalizer(OnnxNode& node) {
  const Expr x = FloatsOf(In(node, 0));
  const std::string norm = node.String("norm", "MAX");
  node.CheckSupported(norm == "MAX" || norm == "L1" || norm == "L2", "norm is ", Quoted(norm),
                      ", expected MAX, L1 or L2");
  const Expr size = norm == "MAX"  ? Reduced(ReduceOp::kMax, x, {-1})
                    : norm == "L1" ? Reduced(ReduceOp::kL1, x, {-1})
                                   : Reduced(ReduceOp::kL2, x, {-1});
  const Expr is_zero = Equal(size, Number(node, 0.0));
  Give(x / Select(is_zero, Number(node, 1.0), size));
}

void ImportBinarizer(OnnxNode& node) {
  const Expr x = FloatsOf(In(node, 0));
  const Expr threshold = Number(node, node.AnyFloat("threshold", 0.0f));
  Give(CastTo(Less(threshold, x), DType::kF32));
}

// NaN, or the number that stands for what is missing, becomes what is given for its feature.
void ImportImputer(OnnxNode& node) {
  const Expr x = FloatsOf(In(node, 0));
  node.CheckSupported(node.HasAttribute("imputed_value_floats"),
                      "imputes integers; only floats are supported");
  const Expr imputed = PerFeature(node, "imputed_value_floats", x, 0.0f);
  const float missing = node.AnyFloat("replaced_value_float", 0.0f);
  const Expr is_missing =
      missing != missing ? Not(Equal(x, x)) : Equal(x, Number(node, double{missing}));
  Give(Select(is_missing, imputed, x));
}

void ImportArrayFeatureExtractor(OnnxNode& node) {
  const Expr x = In(node, 0), places = In(node, 1);
  node.Check(x.rank() > 0, "input is a scalar, expected features");
  const Expr picked = Gathered(x, Reshaped(places, {NumElements(places.shape())}),
                               static_cast<int64_t>(x.rank()) - 1);
  Give(x.rank() == 1 ? Unsqueezed(picked, 0) : picked);
}

void ImportFeatureVectorizer(OnnxNode& node) {
  std::vector<Expr> parts;
  for (int i = 0; node.HasInput(i); ++i) {
    const Expr x = FloatsOf(In(node, i));
    node.CheckSupported(x.rank() == 2, "input ", i, " has the shape ", ToString(x.shape()),
                        ", expected rows of features");
    parts.push_back(x);
  }
  node.Check(!parts.empty(), "has no inputs");
  Give(Joined(parts, 1));
}

constexpr ImportEntry kClassicalImports[] = {
    {"ai.onnx.ml:ArrayFeatureExtractor", ImportArrayFeatureExtractor},
    {"ai.onnx.ml:Binarizer", ImportBinarizer},
    {"ai.onnx.ml:FeatureVectorizer", ImportFeatureVectorizer},
    {"ai.onnx.ml:Imputer", ImportImputer},
    {"ai.onnx.ml:Normalizer", ImportNormalizer},
    {"ai.onnx.ml:Scaler", ImportScaler},
};

}  // namespace

std::span<const ImportEntry> ClassicalImports() { return kClassicalImports; }

}  // namespace rshift
