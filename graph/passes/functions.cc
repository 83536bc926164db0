#include "graph/passes/functions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/portable_math.h"
#include "graph/passes/util.h"
#include "isa/unary_functions.h"

namespace rshift {
namespace {

constexpr double kFar = 1e30;   // beyond every bound
constexpr int kMostLevels = 8;  // between a function's value and what it is a function of
constexpr size_t kMostNodes = 24;

double OfUnary(const Unary& op, double x) {
  using Math = PortableMath<double>;
  return kUnaryFunctions<Math>[static_cast<size_t>(op.op)](x, static_cast<double>(op.alpha),
                                                           static_cast<double>(op.beta));
}

double OfBinary(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a - b;
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kDiv:
      return a / b;
    case BinaryOp::kPow:
      return portable::Pow(a, b);
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kMod:
      return std::fmod(a, b);
    case BinaryOp::kEqual:
      return a == b;
    case BinaryOp::kLess:
      return a < b;
    case BinaryOp::kLessOrEqual:
      return a <= b;
    case BinaryOp::kGreater:
      return a > b;
    case BinaryOp::kGreaterOrEqual:
      return a >= b;
    case BinaryOp::kAnd:
      return a != 0 && b != 0;
    case BinaryOp::kOr:
      return a != 0 || b != 0;
    case BinaryOp::kXor:
      return (a != 0) != (b != 0);
    case BinaryOp::kSquaredDifference:
      return (a - b) * (a - b);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double Clamped(double x, const Clamp& clamp) {
  return std::min(std::max(x, static_cast<double>(clamp.lo)), static_cast<double>(clamp.hi));
}

double OfLeaky(double alpha, double x) { return x < 0 ? alpha * x : x; }

// What a node makes of numbers in place of its inputs; nothing for one that is no function of
// elements.
std::optional<double> OfOp(const Op& op, const std::vector<double>& in) {
  if (const auto* unary = std::get_if<Unary>(&op)) return OfUnary(*unary, in[0]);
  if (const auto* clip = std::get_if<Clip>(&op)) return Clamped(in[0], clip->clamp);
  if (const auto* leaky = std::get_if<LeakyRelu>(&op))
    return OfLeaky(static_cast<double>(leaky->alpha), in[0]);
  if (std::holds_alternative<PRelu>(op)) return OfLeaky(in[1], in[0]);
  if (std::holds_alternative<Where>(op)) return in[0] != 0 ? in[1] : in[2];
  if (const auto* binary = std::get_if<Binary>(&op))
    return Clamped(OfBinary(binary->op, in[0], in[1]), binary->clamp);
  return std::nullopt;
}

bool IsOfElements(const Node& node) {
  return node.outputs.size() == 1 && !node.inputs.empty() &&
         OfOp(node.op, std::vector<double>(3)).has_value();
}

// Operators between x and y, the last of which makes y.
struct Region {
  ValueId x;
  std::vector<size_t> nodes;  // in order
};

class Recognizer {
 public:
  explicit Recognizer(Graph& graph) : graph_(graph), links_(graph) { ReadTree(); }

  void Run() {
    // Outer functions first: what they cover is gone then.
    for (size_t n = graph_.nodes().size(); n-- > 0;) Recognize(n);
  }

 private:
  // The number of a constant all of whose elements are the same.
  std::optional<double> NumberOf(ValueId id) {
    const Value& value = graph_.value(id);
    if (!value.is_constant() || value.dtype != DType::kF32) return std::nullopt;
    const auto [known, is_new] = numbers_.try_emplace(id.index());
    if (is_new) {
      const auto elements = value.constant->As<float>();
      const bool same = !elements.empty() && std::all_of(elements.begin(), elements.end(),
                                                         [&](float v) { return v == elements[0]; });
      if (same) known->second = static_cast<double>(elements[0]);
    }
    return known->second;
  }

  bool IsActivation(ValueId id) const { return id.valid() && !graph_.value(id).is_constant(); }

  // For each value the nearest one that it is a function of.
  void ReadTree() {
    parents_.assign(static_cast<size_t>(graph_.value_count()), ValueId());
    depths_.assign(static_cast<size_t>(graph_.value_count()), 0);
    for (const Node& node : graph_.nodes()) {
      if (!IsOfElements(node)) continue;
      ValueId parent;
      bool ok = true;
      for (const ValueId in : node.inputs) {
        if (!in.valid()) {
          ok = false;
        } else if (!IsActivation(in)) {
          ok = ok && NumberOf(in).has_value();
        } else {
          ok = ok && graph_.value(in).shape == graph_.value(node.outputs[0]).shape;
          parent = !parent.valid() ? in : CommonParent(parent, in);
          ok = ok && parent.valid();
        }
      }
      if (!ok || !parent.valid()) continue;
      parents_[node.outputs[0].index()] = parent;
      depths_[node.outputs[0].index()] = depths_[parent.index()] + 1;
    }
  }

  ValueId CommonParent(ValueId a, ValueId b) const {
    while (a.valid() && b.valid() && a != b) {
      ValueId& deeper = depths_[a.index()] >= depths_[b.index()] ? a : b;
      deeper = parents_[deeper.index()];
    }
    return a.valid() && b.valid() ? a : ValueId();
  }

  void Recognize(size_t n) {
    const Node& last = graph_.nodes()[n];
    if (!std::holds_alternative<Binary>(last.op) && !std::holds_alternative<Where>(last.op) &&
        !std::holds_alternative<Unary>(last.op))
      return;
    const ValueId y = last.outputs[0];
    const bool unread = links_.Consumers(y).empty() && !links_.IsOutput(y);
    if (graph_.value(y).dtype != DType::kF32 || unread) return;
    std::optional<Op> found;
    ValueId x = parents_[y.index()], of;
    for (int level = 0; x.valid() && level < kMostLevels; ++level, x = parents_[x.index()]) {
      const std::optional<Region> region = RegionOf(n, x);
      if (!region) break;
      if (region->nodes.size() < 2 || graph_.value(x).dtype != DType::kF32) continue;
      std::optional<Op> op = Match(*region);
      if (!op) continue;
      found = std::move(op);
      of = x;
    }
    if (!found) return;
    const NodeId id(static_cast<int32_t>(n));
    links_.Detach(id);
    Node& node = graph_.nodes()[n];
    node.op = std::move(*found);
    node.inputs = {of};
    links_.Attach(id);
    parents_[y.index()] = of;
    depths_[y.index()] = depths_[of.index()] + 1;
  }

  // Nothing when something else reads a value between.
  std::optional<Region> RegionOf(size_t n, ValueId x) const {
    std::set<size_t> nodes = {n};
    std::vector<size_t> open = {n};
    while (!open.empty()) {
      const Node& node = graph_.nodes()[open.back()];
      open.pop_back();
      for (const ValueId in : node.inputs) {
        if (!IsActivation(in) || in == x) continue;
        const auto producer = static_cast<size_t>(links_.ProducerId(in).index());
        if (nodes.insert(producer).second) open.push_back(producer);
      }
      if (nodes.size() > kMostNodes) return std::nullopt;
    }
    for (const size_t inner : nodes) {
      if (inner == n) continue;
      const ValueId made = graph_.nodes()[inner].outputs[0];
      const auto& readers = links_.Consumers(made);
      if (links_.IsOutput(made) || std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
            return !nodes.contains(static_cast<size_t>(reader.index()));
          }))
        return std::nullopt;
    }
    return Region{x, {nodes.begin(), nodes.end()}};
  }

  double Evaluate(const Region& region, double x) {
    std::map<int, double> values = {{region.x.index(), x}};
    double y = x;
    for (const size_t n : region.nodes) {
      const Node& node = graph_.nodes()[n];
      std::vector<double> in;
      for (const ValueId id : node.inputs)
        in.push_back(IsActivation(id) ? values.at(id.index()) : *NumberOf(id));
      y = *OfOp(node.op, in);
      values[node.outputs[0].index()] = y;
    }
    return y;
  }

  std::vector<double> Points(const Region& region) {
    std::vector<double> points;
    for (int i = -60; i <= 60; ++i) points.push_back(i * 0.1037);
    for (int i = -39; i <= 40; ++i) points.push_back(i);
    for (const double v : {1e-6, 1e-4, 1e-2, 50.0, 1e2, 1e3, 1e4, 1e6, 1e9, kFar})
      points.insert(points.end(), {v, -v});
    for (const size_t n : region.nodes) {
      for (const ValueId id : graph_.nodes()[n].inputs) {
        if (IsActivation(id)) continue;
        const double c = *NumberOf(id), beside = std::max(1e-3, std::fabs(c) * 1e-3);
        points.insert(points.end(), {c - beside, c + beside, -c - beside, beside - c});
      }
    }
    return points;
  }

  std::optional<Op> Match(const Region& region) {
    std::vector<Op> candidates = CandidatesOf([&](double v) { return Evaluate(region, v); });
    if (Computes(region))
      std::erase_if(candidates, [](const Op& op) { return std::holds_alternative<Clip>(op); });
    for (const double x : Points(region)) {
      const double y = Evaluate(region, x);
      // So far out exponentials overflow in floats.
      if (std::fabs(x) > 40 && !std::isfinite(y)) continue;
      std::erase_if(candidates, [&](const Op& op) { return !IsNear(*OfOp(op, {x}), y); });
      if (candidates.empty()) return std::nullopt;
    }
    return candidates[0];
  }

  // Sums and products around a Clip would move its bounds, which say what integers a model's
  // numbers are held to.
  bool Computes(const Region& region) const {
    return std::any_of(region.nodes.begin(), region.nodes.end(), [&](size_t n) {
      const Node& node = graph_.nodes()[n];
      const auto* binary = std::get_if<Binary>(&node.op);
      if (binary == nullptr)
        return !std::holds_alternative<Clip>(node.op) && !std::holds_alternative<Where>(node.op);
      return binary->op != BinaryOp::kMin && binary->op != BinaryOp::kMax &&
             !kResultIsBool[static_cast<size_t>(binary->op)];
    });
  }

  // To float accuracy, where constants are rounded to floats.
  static bool IsNear(double a, double b) {
    constexpr double kRelative = 1e-5, kAbsolute = 2e-7;
    return std::fabs(a - b) <= kRelative * std::fabs(b) + kAbsolute;
  }

  // With the parameters that the function's values at a few points would give them.
  template <typename F>
  static std::vector<Op> CandidatesOf(const F& f) {
    std::vector<Op> all;
    for (const UnaryOp op : {UnaryOp::kSigmoid, UnaryOp::kTanh, UnaryOp::kHardSwish,
                             UnaryOp::kSoftplus, UnaryOp::kSoftsign, UnaryOp::kAbs, UnaryOp::kGelu,
                             UnaryOp::kGeluTanh, UnaryOp::kMish, UnaryOp::kSilu})
      all.emplace_back(Unary(op));
    const auto add = [&](UnaryOp op, double alpha, double beta) {
      all.emplace_back(Unary(op, static_cast<float>(alpha), static_cast<float>(beta)));
    };
    const double zero = f(0), one = f(1), minus = f(-1), exponential = portable::Expm1(-1.0);
    const double least = f(-kFar), most = f(kFar), limit = f(-400);
    add(UnaryOp::kHardSigmoid, (f(0.01) - zero) * 100, zero);
    if (minus < 0) add(UnaryOp::kElu, minus / exponential, 0);
    if (minus < 0 && one > 0) add(UnaryOp::kSelu, minus / exponential / one, one);
    if (limit < 0) add(UnaryOp::kCelu, -limit, 0);
    if (minus < 0 && minus > -1) all.emplace_back(LeakyRelu{static_cast<float>(-minus)});
    constexpr float kNone = std::numeric_limits<float>::infinity();
    const Clamp clamp = {least == -kFar ? -kNone : static_cast<float>(least),
                         most == kFar ? kNone : static_cast<float>(most)};
    if (clamp.active() && clamp.lo < clamp.hi) all.emplace_back(Clip{clamp});
    return all;
  }

  Graph& graph_;
  Links links_;
  std::vector<ValueId> parents_;  // by value; invalid: it is no function of another one
  std::vector<int> depths_;
  std::map<int, std::optional<double>> numbers_;
};

}  // namespace

Graph RecognizeFunctions(Graph graph) {
  Recognizer(graph).Run();
  return Tidy(std::move(graph));
}

}  // namespace rshift
