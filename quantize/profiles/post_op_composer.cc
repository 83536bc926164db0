#include "quantize/profiles/post_op_composer.h"

#include <algorithm>

namespace rshift {
namespace {

// op(f) s as an operation of f s.
void Multiply(RealPostOp& op, float s) {
  if (op.kind == PostOpKind::kSum) op.scale *= s;
  if (op.kind == PostOpKind::kLinear) op.beta *= s;
  if (op.kind != PostOpKind::kClip) return;
  op.alpha *= s;
  op.beta *= s;
}

bool Absorbs(const std::vector<RealPostOp>& before, float factor) {
  return factor > 0 && std::all_of(before.begin(), before.end(),
                                   [](const RealPostOp& op) { return IsHomogeneous(op.kind); });
}

// f alpha + beta behind what there is.
void AddLinear(float alpha, float beta, ComposedPostOps* composed) {
  std::vector<RealPostOp>& ops = composed->ops;
  const bool after_linear = !ops.empty() && ops.back().kind == PostOpKind::kLinear;
  if (alpha != 1 && !after_linear && Absorbs(ops, alpha)) {
    composed->factor *= alpha;
    for (RealPostOp& op : ops) Multiply(op, alpha);
    alpha = 1;
  }
  if (after_linear) {
    ops.back().alpha *= alpha;
    ops.back().beta = ops.back().beta * alpha + beta;
    return;
  }
  if (alpha != 1 && beta == 0 && !ops.empty() && !IsHomogeneous(ops.back().kind)) {
    ops.back().scale *= alpha;
    return;
  }
  if (alpha == 1 && beta == 0) return;
  ops.push_back({PostOpKind::kLinear, alpha, beta, {}});
}

}  // namespace

bool IsHomogeneous(PostOpKind kind) {
  return kind == PostOpKind::kSum || kind == PostOpKind::kRelu || kind == PostOpKind::kAbs ||
         kind == PostOpKind::kClip || kind == PostOpKind::kLinear;
}

ComposedPostOps ComposePostOps(const std::vector<RealPostOp>& ops) {
  ComposedPostOps composed;
  for (const RealPostOp& op : ops) {
    if (op.kind == PostOpKind::kLinear) {
      AddLinear(op.alpha, op.beta, &composed);
    } else {
      composed.ops.push_back(op);
    }
  }
  return composed;
}

}  // namespace rshift
