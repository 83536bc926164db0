// The algebra of operations behind a convolution, before they become oneDNN's post-operations:
// factors go where they cost nothing. NUMERICS.md section 23.
#ifndef RSHIFT_QUANTIZE_PROFILES_POST_OP_COMPOSER_H_
#define RSHIFT_QUANTIZE_PROFILES_POST_OP_COMPOSER_H_

#include <vector>

#include "quantize/types.h"

namespace rshift {

struct ComposedPostOps {
  float factor = 1;  // of the output scale
  std::vector<RealPostOp> ops;
};

// kind(c f) = c kind(f) for c > 0, bounds and offsets taken times c: such an operation may come
// after a factor that stood behind it.
bool IsHomogeneous(PostOpKind kind);

// `ops` in order. Multiplications by 1 and additions of 0 vanish. A positive factor with nothing
// but homogeneous operations before it becomes the output scale's: relu(x) s = relu(x s),
// (x + dst) s = x s + s dst. Behind a function it becomes that function's scale; behind an affine
// operation both are one: (x A + B) C + D.
ComposedPostOps ComposePostOps(const std::vector<RealPostOp>& ops);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_PROFILES_POST_OP_COMPOSER_H_
