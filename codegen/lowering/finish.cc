// The end of lowering: outputs are bound, buffers get their place in the arena.
#include <algorithm>

#include "base/aligned.h"
#include "base/error.h"
#include "codegen/lowering/context.h"
#include "codegen/memory/lifetime.h"
#include "codegen/memory/planner.h"

namespace rshift {

void LoweringContext::BindOutputs() {
  std::set<int32_t> taken;  // buffers that are already an output
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const Value& value = graph_.value(graph_.outputs[i]);
    const std::string& name = i < graph_.output_names.size() ? graph_.output_names[i] : value.name;
    int32_t tensor = Tensor(graph_.outputs[i]);
    const int32_t buffer = buffer_of_[tensor];
    if (buffer < 0 || buffers_[buffer].input || taken.contains(buffer)) {
      // An input, a constant, or the same value once more: outputs have memory of their own.
      const int32_t copy = Temporary(value.name + ".output", record(tensor), value.shape);
      buffers_[buffer_of_[copy]].output = true;
      EmitCopy(name, copy, tensor);
      tensor = copy;
    }
    taken.insert(buffer_of_[tensor]);
    image_.outputs.push_back({name, tensor});
  }
}

void LoweringContext::PlaceBuffers() {
  const int64_t end = std::max<int64_t>(static_cast<int64_t>(image_.commands.size()) - 1, 0);
  std::vector<Buffer> plan_buffers;
  for (const BufferState& state : buffers_) {
    plan_buffers.push_back({.size = std::max<int64_t>(state.size, 1), .first = end, .last = 0});
  }
  const std::vector<Lifetime> lifetimes = TensorLifetimes(image_);
  for (size_t tensor = 0; tensor < lifetimes.size(); ++tensor) {
    const int32_t index = buffer_of_[tensor];
    if (index < 0 || !lifetimes[tensor].used) continue;
    Buffer& buffer = plan_buffers[index];
    buffer.first = std::min(buffer.first, lifetimes[tensor].first);
    buffer.last = std::max(buffer.last, lifetimes[tensor].last);
  }
  for (size_t i = 0; i < buffers_.size(); ++i) {
    Buffer& buffer = plan_buffers[i];
    if (observable_ || buffers_[i].input || buffers_[i].output || buffer.first > buffer.last) {
      buffer.first = 0;
      buffer.last = end;
    }
  }
  const Plan plan = PlanArena(plan_buffers);
  const std::string error = ValidatePlan(plan_buffers, plan);
  Require(error.empty(), ErrorCode::kInternal, "arena plan: ", error);
  for (size_t tensor = 0; tensor < image_.tensors.size(); ++tensor) {
    if (buffer_of_[tensor] >= 0) image_.tensors[tensor].offset = plan.offsets[buffer_of_[tensor]];
  }
  image_.arena_size = plan.arena + kBufferSlack;
}

ProgramImage LoweringContext::Finish() {
  BindOutputs();
  PlaceBuffers();
  image_.constants = pool_.Take();
  return std::move(image_);
}

}  // namespace rshift
