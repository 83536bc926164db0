// A command that is one oneDNN primitive.
#ifndef RSHIFT_RUNTIME_ONEDNN_ONEDNN_STEP_H_
#define RSHIFT_RUNTIME_ONEDNN_ONEDNN_STEP_H_

#include <memory>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "runtime/f32/step_tools.h"

namespace rshift::f32 {

const dnnl::engine& CpuEngine();

// Strict F32, scratch memory of ours, the clamp as a fused element-wise operation.
dnnl::primitive_attr Attributes(const Clamp& clamp);

// The number of OpenMP threads oneDNN sees, for as long as this lives.
class ThreadCount {
 public:
  explicit ThreadCount(int threads);
  ~ThreadCount();
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

// How the program's bytes look to oneDNN; the primitive was made with format `any` for the weights.
// `bias` may be empty: there is none then.
struct Operands {
  Field weights_field = Field::kWeights;
  dnnl::memory::desc src, weights, bias, dst;
  // Where the program has the elements in another order than a desc can say: they, in place of the
  // program's.
  std::vector<float> own_weights, own_bias;
};

// Reorders constant weights at once, computed ones at each run.
std::unique_ptr<Step> MakePrimitiveStep(const StepContext& context,
                                        const dnnl::primitive& primitive, Operands operands);

// oneDNN 2.7 reads through a null pointer where it gets no memory for the code it generates. Throws
// bad_alloc when the process cannot have what making a primitive takes, with much to spare. What
// another thread takes in the meantime is not seen here: the tools see it (tools/process.cc).
void RequireMemoryForOneDnn();

// Calls make() with the session's thread count set; what oneDNN refuses becomes kUnsupported with
// the place.
template <typename F>
std::unique_ptr<Step> WithOneDnn(const StepContext& context, const F& make) {
  const ThreadCount threads(context.threads);
  RequireMemoryForOneDnn();
  try {
    return make();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    Fail(ErrorCode::kUnsupported, Where(context), ": oneDNN refuses these shapes or attributes (",
         error.what(), "): change the node in the model");
  }
}

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_ONEDNN_ONEDNN_STEP_H_
