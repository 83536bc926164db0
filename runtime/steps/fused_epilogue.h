// The commands that run in the pass of another one (Field::kFuseWithPrevious), as what its kernel
// calls.
#ifndef RSHIFT_RUNTIME_STEPS_FUSED_EPILOGUE_H_
#define RSHIFT_RUNTIME_STEPS_FUSED_EPILOGUE_H_

#include <memory>
#include <span>
#include <vector>

#include "runtime/kernels/kernels.h"
#include "runtime/steps/byte_op.h"

namespace rshift {

// One behind the other on each block of bytes. Stays where it is: kernels hold its address.
class FusedEpilogue {
 public:
  // `contexts`: of the fused commands in their order; verified to work in place on one tensor.
  explicit FusedEpilogue(std::span<const StepContext> contexts);
  FusedEpilogue(const FusedEpilogue&) = delete;
  FusedEpilogue& operator=(const FusedEpilogue&) = delete;

  EpilogueArgs args() const { return {.run = Run, .state = this}; }
  // Step::memory_bytes().
  size_t memory_bytes() const;

 private:
  // An operand that is not the bytes themselves: null when it is.
  struct Operand {
    const uint8_t* bytes = nullptr;
    int64_t pitch = 0;
  };
  struct Stage {
    std::unique_ptr<ByteOp> op;
    Operand a, b;
    bool two = false;
  };

  static Stage MakeStage(const StepContext& context);
  static void Run(const void* state, uint8_t* dst, int64_t pixels, int64_t count) noexcept;

  const uint8_t* dst_ = nullptr;
  int64_t pitch_ = 0, channels_ = 0;  // of dst's rows
  bool alike_ = false;                // every operand lies like dst, which has no gaps
  std::vector<Stage> stages_;
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_FUSED_EPILOGUE_H_
