// DepthToSpace and SpaceToDepth: the same bytes seen with six dimensions, transposed.
//
//   depth (DCR) = (block_h, block_w, C')     depth (CRD) = (C', block_h, block_w)
#include "base/error.h"
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {
namespace {

struct Movement {
  Shape view;                 // of the input
  std::vector<int64_t> perm;  // of its dimensions
};

void LowerMovement(LoweringContext& context, const Node& node, const Movement& movement) {
  const std::string& name = context.OutputValue(node).name;
  const int32_t source = context.Input(node, 0);
  Shape moved;
  for (const int64_t axis : movement.perm) moved.push_back(movement.view[axis]);
  const int32_t view = context.View(name + ".source", source, movement.view);
  const int32_t result = context.Temporary(name + ".moved", context.record(view), moved);
  const int32_t perm = context.AddList(node.name + ".perm", movement.perm);
  context.Emit(node, isa::Transpose{.dst = result, .src = view, .list = perm});
  context.DefineAlias(node, result);
}

void RequireBlock(const Node& node, const Shape& shape, int64_t block, bool divides) {
  RSHIFT_REQUIRE(shape.size() == 4 && block >= 1 && divides, ErrorCode::kInvalidInput,
                 Describe(node), ": block ", block, " does not divide an input of shape ",
                 ToString(shape));
}

}  // namespace

void Lower(LoweringContext& context, const Node& node, const DepthToSpace& op) {
  const Value& x = context.InputValue(node, 0);
  const bool nhwc = x.layout == Layout::kNhwc;
  const int64_t b = op.block;
  RequireBlock(node, x.shape, b,
               b >= 1 && x.shape.size() == 4 && x.shape[nhwc ? 3 : 1] % (b * b) == 0);
  const int64_t n = x.shape[0];
  Movement movement;
  if (nhwc) {
    const int64_t h = x.shape[1], w = x.shape[2], c = x.shape[3] / (b * b);
    movement = op.crd ? Movement{{n, h, w, c, b, b}, {0, 1, 4, 2, 5, 3}}
                      : Movement{{n, h, w, b, b, c}, {0, 1, 3, 2, 4, 5}};
  } else {
    const int64_t c = x.shape[1] / (b * b), h = x.shape[2], w = x.shape[3];
    movement = op.crd ? Movement{{n, c, b, b, h, w}, {0, 1, 4, 2, 5, 3}}
                      : Movement{{n, b, b, c, h, w}, {0, 3, 4, 1, 5, 2}};
  }
  LowerMovement(context, node, movement);
}

void Lower(LoweringContext& context, const Node& node, const SpaceToDepth& op) {
  const Value& x = context.InputValue(node, 0);
  const bool nhwc = x.layout == Layout::kNhwc;
  const int64_t b = op.block;
  RequireBlock(node, x.shape, b,
               b >= 1 && x.shape.size() == 4 && x.shape[nhwc ? 1 : 2] % b == 0 &&
                   x.shape[nhwc ? 2 : 3] % b == 0);
  const int64_t n = x.shape[0];
  Movement movement;
  if (nhwc) {
    const int64_t h = x.shape[1] / b, w = x.shape[2] / b, c = x.shape[3];
    movement = {{n, h, b, w, b, c}, {0, 1, 3, 2, 4, 5}};
  } else {
    const int64_t c = x.shape[1], h = x.shape[2] / b, w = x.shape[3] / b;
    movement = {{n, c, h, b, w, b}, {0, 3, 5, 1, 2, 4}};
  }
  LowerMovement(context, node, movement);
}

}  // namespace rshift::lowering
