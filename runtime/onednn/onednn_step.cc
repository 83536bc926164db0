#include "runtime/onednn/onednn_step.h"

#include <omp.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "runtime/shared_weights.h"

namespace rshift::f32 {
namespace {

// Scratch memory: one block for all steps of a session, since they run one after the other. It
// grows while the session is being made; steps ask for its address when they run.
struct Scratch {
  AlignedBuffer memory;
};

// A session is known by its arena. `growth`: by how much the block grew for this step.
std::shared_ptr<Scratch> ScratchOf(const std::byte* arena, size_t size, size_t* growth) {
  static std::mutex mutex;
  static std::map<const std::byte*, std::weak_ptr<Scratch>> sessions;
  const std::lock_guard<std::mutex> lock(mutex);
  std::erase_if(sessions, [](const auto& entry) { return entry.second.expired(); });
  std::shared_ptr<Scratch> scratch = sessions[arena].lock();
  if (!scratch) sessions[arena] = scratch = std::make_shared<Scratch>();
  *growth = size > scratch->memory.size() ? size - scratch->memory.size() : 0;
  if (*growth > 0) scratch->memory = AlignedBuffer(size);
  return scratch;
}

const_dnnl_primitive_desc_t DescOf(const dnnl::primitive& primitive) {
  const_dnnl_primitive_desc_t desc = nullptr;
  dnnl::error::wrap_c_api(dnnl_primitive_get_primitive_desc(primitive.get(), &desc),
                          "could not get a primitive descriptor");
  return desc;
}

dnnl::memory::desc QueryDesc(const dnnl::primitive& primitive, int argument) {
  const dnnl_memory_desc_t* desc =
      dnnl_primitive_desc_query_md(DescOf(primitive), dnnl_query_exec_arg_md, argument);
  return desc == nullptr ? dnnl::memory::desc() : dnnl::memory::desc(*desc);
}

// Memory of the program; oneDNN only writes to the destination.
dnnl::memory Bind(const dnnl::memory::desc& desc, const void* bytes) {
  return dnnl::memory(desc, CpuEngine(), const_cast<void*>(bytes));
}

// The same numbers for the same two orders of the elements.
std::vector<int64_t> OrderOf(const dnnl::memory::desc& from, const dnnl::memory::desc& to) {
  constexpr size_t kNumbers = (sizeof(dnnl_memory_desc_t) + 7) / 8;
  std::vector<int64_t> order(2 * kNumbers, 0);
  std::memcpy(order.data(), &from.data, sizeof from.data);
  std::memcpy(order.data() + kNumbers, &to.data, sizeof to.data);
  return order;
}

class PrimitiveStep final : public Step {
 public:
  PrimitiveStep(const StepContext& context, const dnnl::primitive& primitive, Operands operands)
      : threads_(context.threads),
        stream_(CpuEngine()),
        primitive_(primitive),
        operands_(std::move(operands)) {
    AddArgument(DNNL_ARG_SRC, Bind(operands_.src, context.In(Field::kSrc)));
    AddWeights(context);
    if (!operands_.own_bias.empty()) {
      AddArgument(DNNL_ARG_BIAS, Bind(operands_.bias, operands_.own_bias.data()));
    } else if (!operands_.bias.is_zero()) {
      AddArgument(DNNL_ARG_BIAS, Bind(operands_.bias, context.In(Field::kSrc3)));
    }
    AddArgument(DNNL_ARG_DST, Bind(operands_.dst, context.Out(Field::kDst)));
    const dnnl::memory::desc scratch = QueryDesc(primitive, DNNL_ARG_SCRATCHPAD);
    scratch_ =
        ScratchOf(context.arena, WithinBufferLimits(context, scratch.get_size()), &scratch_growth_);
    scratch_memory_ = Bind(scratch, scratch_->memory.data());
    AddArgument(DNNL_ARG_SCRATCHPAD, scratch_memory_);
  }

  bool parallel() const override { return false; }
  size_t memory_bytes() const override {
    return (weights_.is_new ? weights_.buffer->size() : own_order_.size()) + scratch_growth_ +
           (operands_.own_weights.size() + operands_.own_bias.size()) * sizeof(float);
  }

  void Run(const Team&) noexcept override {
    const ThreadCount threads(threads_);
    scratch_memory_.set_data_handle(scratch_->memory.data(), stream_);
    if (!reorder_arguments_.empty()) Execute(reorder_, reorder_arguments_);
    Execute(primitive_, arguments_);
  }

 private:
  void AddArgument(int argument, dnnl::memory memory) {
    arguments_.push_back({argument, memory.get()});
    memories_.push_back(std::move(memory));
  }

  void AddWeights(const StepContext& context) {
    const dnnl::memory::desc wanted = QueryDesc(primitive_, DNNL_ARG_WEIGHTS);
    const bool own_order = !operands_.own_weights.empty();
    const void* elements = own_order ? static_cast<const void*>(operands_.own_weights.data())
                                     : context.In(operands_.weights_field);
    dnnl::memory plain = Bind(operands_.weights, elements);
    if (wanted == operands_.weights) {
      AddArgument(DNNL_ARG_WEIGHTS, std::move(plain));
      return;
    }
    const size_t bytes = WithinBufferLimits(context, wanted.get_size());
    const bool constant = context.Record(operands_.weights_field).region == Region::kConst;
    if (constant && !own_order) {
      weights_ = context.weights->Get(
          {elements, OrderOf(operands_.weights, wanted)}, bytes,
          [&](AlignedBuffer& buffer) { ReorderOnce(plain, Bind(wanted, buffer.data())); });
      AddArgument(DNNL_ARG_WEIGHTS, Bind(wanted, weights_.buffer->data()));
      return;
    }
    own_order_ = AlignedBuffer(bytes);
    dnnl::memory own = Bind(wanted, own_order_.data());
    if (own_order) {
      ReorderOnce(plain, own);
      operands_.own_weights = {};
    } else {  // of each run
      reorder_ = dnnl::reorder(plain, own);
      reorder_arguments_ = {{DNNL_ARG_FROM, plain.get()}, {DNNL_ARG_TO, own.get()}};
      memories_.push_back(std::move(plain));
    }
    AddArgument(DNNL_ARG_WEIGHTS, std::move(own));
  }

  void ReorderOnce(const dnnl::memory& from, const dnnl::memory& to) {
    const dnnl::reorder reorder(from, to);
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
    dnnl::error::wrap_c_api(dnnl_primitive_execute(reorder.get(), stream_.get(), 2, arguments),
                            "could not reorder the weights");
  }

  // The C call: its C++ wrapper would build a map and a vector at each run. It cannot fail for
  // arguments that match the primitive; the CPU stream is done when it returns.
  void Execute(const dnnl::primitive& primitive, const std::vector<dnnl_exec_arg_t>& arguments) {
    dnnl_primitive_execute(primitive.get(), stream_.get(), static_cast<int>(arguments.size()),
                           arguments.data());
  }

  int threads_;
  dnnl::stream stream_;
  dnnl::primitive primitive_, reorder_;
  Operands operands_;
  SharedWeights::Share weights_;  // in the primitive's order
  AlignedBuffer own_order_;       // the same of weights that nobody else has
  std::shared_ptr<Scratch> scratch_;
  size_t scratch_growth_ = 0;
  dnnl::memory scratch_memory_;
  std::vector<dnnl::memory> memories_;  // owners of what the arguments name
  std::vector<dnnl_exec_arg_t> arguments_, reorder_arguments_;
};

}  // namespace

const dnnl::engine& CpuEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::primitive_attr Attributes(const Clamp& clamp) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  if (!clamp.active()) return attributes;
  dnnl::post_ops operations;
  if (clamp.lo == 0.0f && clamp.hi == std::numeric_limits<float>::infinity()) {
    operations.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
  } else {
    operations.append_eltwise(1.0f, dnnl::algorithm::eltwise_clip, clamp.lo, clamp.hi);
  }
  attributes.set_post_ops(operations);
  return attributes;
}

void RequireMemoryForOneDnn() {
  constexpr size_t kEnough = size_t{32} << 20;  // 256 KB for each kernel of a primitive
  void* probe = mmap(nullptr, kEnough, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) throw std::bad_alloc();
  munmap(probe, kEnough);
}

ThreadCount::ThreadCount(int threads) : before_(omp_get_max_threads()) {
  omp_set_num_threads(threads);
}
ThreadCount::~ThreadCount() { omp_set_num_threads(before_); }

std::unique_ptr<Step> MakePrimitiveStep(const StepContext& context,
                                        const dnnl::primitive& primitive, Operands operands) {
  return std::make_unique<PrimitiveStep>(context, primitive, std::move(operands));
}

}  // namespace rshift::f32
