#include "quantize/ops/function_scales.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "quantize/ops/ops.h"
#include "quantize/ops/product_reader.h"

namespace rshift {
namespace {

constexpr int kPoints = 512;   // of a side at which functions are evaluated
constexpr int kReaches = 128;  // places at which a side's integers may end
constexpr int kPointsOfReach = kPoints / kReaches;
constexpr int kSteps = 255;  // between the integers
constexpr double kWorthIt = 0.8;

// Continuous functions whose bytes are tables: what the step of x costs is their slope.
bool IsSmooth(UnaryOp op) {
  switch (op) {
    case UnaryOp::kSigmoid:
    case UnaryOp::kTanh:
    case UnaryOp::kHardSigmoid:
    case UnaryOp::kHardSwish:
    case UnaryOp::kElu:
    case UnaryOp::kSelu:
    case UnaryOp::kCelu:
    case UnaryOp::kSoftplus:
    case UnaryOp::kSoftsign:
    case UnaryOp::kErf:
    case UnaryOp::kGelu:
    case UnaryOp::kGeluTanh:
    case UnaryOp::kMish:
    case UnaryOp::kSilu:
    case UnaryOp::kAtan:
      return true;
    default:
      return false;
  }
}

double Square(double v) { return v * v; }

// The squared errors, summed over the numbers on one side of zero, from zero to `end`, which may be
// negative.
class Side {
 public:
  Side(const std::vector<HeldFunction>& functions, double end) : end_(end) {
    if (end == 0) return;
    const double width = std::fabs(end) / kPoints;
    std::vector<double> y(kPoints + 1);
    for (const HeldFunction& f : functions) {
      for (int i = 0; i <= kPoints; ++i) y[i] = f.y(end * i / kPoints);
      double slopes = 0;
      for (int r = 1; r <= kReaches; ++r) {
        const int at = r * kPointsOfReach;
        for (int i = at - kPointsOfReach; i < at; ++i)
          slopes += Weight(i) * Square((y[i + 1] - y[i]) / width);
        double beyond = 0;
        for (int i = at; i < kPoints; ++i)
          beyond += Weight(i) * Square((y[i] + y[i + 1]) / 2 - y[at]);
        slopes_[r] += f.channels * slopes * width;
        beyond_[r] += f.channels * beyond * width;
      }
    }
  }

  double Reach(int r) const { return std::fabs(end_) * r / kReaches; }
  // Of `count` integers that end at Reach(r); of a scale, without an end.
  double Error(int r, int count) const { return Rounding(r, Reach(r) / count) + beyond_[r]; }
  double Error(double scale) const { return Rounding(kReaches, scale); }

  // The least error that `count` integers may have, and where they end; of none at all: reach 0.
  std::pair<double, int> Best(int count) const {
    if (end_ == 0) return {0, 0};
    std::pair<double, int> best{HUGE_VAL, 0};
    for (int r = 1; r <= kReaches && count > 0; ++r)
      best = std::min(best, std::pair(Error(r, count), r));
    return best;
  }

 private:
  // How often numbers of an interval come: the farther out, the less.
  static double Weight(int interval) { return 1 - (interval + 0.5) / kPoints; }
  double Rounding(int r, double scale) const { return scale * scale / 12 * slopes_[r]; }

  double end_;
  std::vector<double> slopes_ = std::vector<double>(kReaches + 1);
  std::vector<double> beyond_ = std::vector<double>(kReaches + 1);
};

}  // namespace

FunctionScales ChooseFunctionScales(const std::vector<HeldFunction>& functions, double low,
                                    double high, int32_t qmin) {
  const Side below(functions, low), above(functions, high);
  double least = HUGE_VAL;
  int negatives = 0;
  for (int n = 0; n <= kSteps; ++n) {
    const double error = below.Best(n).first + above.Best(kSteps - n).first;
    if (error < least) {
      least = error;
      negatives = n;
    }
  }
  const int to_low = below.Best(negatives).second, to_high = above.Best(kSteps - negatives).second;
  FunctionScales scales;
  scales.zero_point = qmin + negatives;
  scales.error = least;
  const auto scale = [](double reach, int count) { return static_cast<float>(reach / count); };
  if (to_high > 0) scales.positive = scale(above.Reach(to_high), kSteps - negatives);
  scales.negative = to_low > 0 ? scale(below.Reach(to_low), negatives) : scales.positive;
  if (to_high == 0) scales.positive = scales.negative;
  return scales;
}

double FunctionError(const std::vector<HeldFunction>& functions, double low, double high,
                     double scale) {
  return Side(functions, low).Error(scale) + Side(functions, high).Error(scale);
}

namespace {

// One for each pair of exponents that equalization has given channels.
std::vector<HeldFunction> FunctionsOf(const ValueFunction& function, size_t channels,
                                      const IntType& y) {
  std::map<std::pair<int32_t, int32_t>, double> pairs;
  for (size_t c = 0; c < (function.scales_channels() ? channels : 1); ++c)
    ++pairs[function.ExponentsOf(c)];
  std::vector<HeldFunction> functions;
  const double low = y.qmin() - y.quant.zero_point, high = y.qmax() - y.quant.zero_point;
  for (const auto& [exponents, count] : pairs) {
    const double in = std::ldexp(1.0, exponents.first);
    const double quantum = std::ldexp(static_cast<double>(y.quant.scale), exponents.second);
    functions.push_back(
        {[=, f = function.f](double x) { return std::clamp(f(x * in) / quantum, low, high); },
         count});
  }
  return functions;
}

bool IsNormal(const FunctionScales& scales) {
  return std::isnormal(scales.positive) && std::isnormal(scales.negative) &&
         std::isnormal(scales.positive / scales.negative);
}

}  // namespace

void FindFunctionScales(const Graph& graph, const QuantizationPlan& plan,
                        const QuantizeOptions& options, const std::set<size_t>& others,
                        const std::map<std::string, ValueRange>& given,
                        const FunctionChains& chains, ValueTypes* types, PostOpPlan* post_ops) {
  std::map<size_t, std::vector<size_t>> chain_of;  // by the first node
  for (const auto& [last, nodes] : chains.of) chain_of[nodes.front()] = nodes;
  for (const auto [n, r] : FindProductReaders(graph, plan, *types, options, others, *post_ops)) {
    const Node& reader = graph.nodes()[r];
    const auto* unary = std::get_if<Unary>(&reader.op);
    const ValueId middle = reader.inputs[0];
    if (unary == nullptr || !IsSmooth(unary->op) || given.contains(graph.value(middle).name))
      continue;
    IntType& type = types->types[middle.index()];
    const auto chain = chain_of.find(r);
    const std::vector<size_t> nodes = chain == chain_of.end() ? std::vector{r} : chain->second;
    const ValueId y = graph.nodes()[nodes.back()].outputs[0];
    if (!types->int16.empty() && types->int16[y.index()].quant.scale > 0) continue;
    const std::vector<HeldFunction> functions =
        FunctionsOf(FunctionOfChain(graph, nodes),
                    static_cast<size_t>(graph.value(middle).shape.back()), types->types[y.index()]);
    const double low = std::min(type.RealOf(type.qmin()), 0.0);
    const double high = std::max(type.RealOf(type.qmax()), 0.0);
    const FunctionScales scales = ChooseFunctionScales(functions, low, high, type.qmin());
    const double now = FunctionError(functions, low, high, static_cast<double>(type.quant.scale));
    if (!(now > 0 && scales.error <= kWorthIt * now) || !IsNormal(scales)) continue;
    type.quant = {scales.positive, scales.zero_point};
    type.negative_scale = scales.negative;
    types->names[middle.index()] = graph.value(middle).name + "__code";
    FusedPostOps fused;
    fused.y = middle;
    fused.slopes = {scales.positive / scales.negative};
    post_ops->of[n] = std::move(fused);
  }
}

}  // namespace rshift
