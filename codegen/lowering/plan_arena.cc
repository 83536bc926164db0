// The end of lowering: outputs are bound, buffers get their place in the arena.
#include <algorithm>
#include <set>

#include "base/aligned.h"
#include "base/error.h"
#include "base/round_up.h"
#include "codegen/lowering/context.h"
#include "codegen/memory/lifetime.h"
#include "codegen/memory/planner.h"
#include "codegen/passes/fuse_elementwise.h"
#include "codegen/passes/place_concat.h"
#include "codegen/passes/reuse_in_place.h"

namespace rshift {

void LoweringContext::BindOutputs() {
  std::set<int32_t> taken;  // buffers that are already an output
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const Value& value = graph_.value(graph_.outputs[i]);
    const std::string& name = i < graph_.output_names.size() ? graph_.output_names[i] : value.name;
    int32_t tensor = Tensor(graph_.outputs[i]);
    const int32_t buffer = memory_.of[tensor];
    if (buffer < 0 || memory_.buffers[buffer].input || taken.contains(buffer)) {
      // An input, a constant, or the same value once more: outputs have memory of their own.
      const int32_t copy = Temporary(value.name + ".output", record(tensor), value.shape);
      memory_.buffers[memory_.of[copy]].output = true;
      EmitCopy(name, copy, tensor);
      tensor = copy;
    }
    taken.insert(memory_.of[tensor]);
    image_.outputs.push_back({name, tensor});
  }
}

void LoweringContext::PlaceBuffers() {
  const int64_t end = std::max<int64_t>(static_cast<int64_t>(image_.commands.size()) - 1, 0);
  std::vector<int32_t> planned(memory_.buffers.size(), -1);  // -1: no tensor is left in it
  std::vector<Buffer> buffers;
  const std::vector<Lifetime> lifetimes = TensorLifetimes(image_);
  for (size_t tensor = 0; tensor < lifetimes.size(); ++tensor) {
    const int32_t index = memory_.of[tensor];
    if (index < 0) continue;
    const ArenaBuffer& memory = memory_.buffers[index];
    if (planned[index] < 0) {
      planned[index] = static_cast<int32_t>(buffers.size());
      // An input is there from the start, until it is read for the last time (Session::Input). An
      // output is there at all times, so that the caller may read it while it fills the next
      // inputs.
      const bool whole_time = (observable_ && !reuse_observed_) || memory.output;
      buffers.push_back({.size = std::max<int64_t>(memory.size, 1),
                         .first = whole_time || memory.input ? 0 : end,
                         .last = whole_time ? end : 0});
    }
    if (!lifetimes[tensor].used) continue;
    Buffer& buffer = buffers[planned[index]];
    buffer.first = std::min(buffer.first, lifetimes[tensor].first);
    buffer.last = std::max(buffer.last, lifetimes[tensor].last);
  }
  for (Buffer& buffer : buffers) {
    if (buffer.first > buffer.last) std::swap(buffer.first, buffer.last);  // no command uses it
  }
  const ArenaPlan plan = PlanArena(buffers);
  const std::string error = ValidatePlan(buffers, plan);
  RSHIFT_REQUIRE(error.empty(), ErrorCode::kInternal, "arena plan: ", error);
  for (size_t tensor = 0; tensor < image_.tensors.size(); ++tensor) {
    const int32_t index = memory_.of[tensor];
    if (index >= 0) image_.tensors[tensor].offset += plan.offsets[planned[index]];
  }
  image_.arena_size = plan.arena + kBufferSlack;
}

// Those of 4 bits behind the others.
void LoweringContext::PlaceConstants() {
  image_.constants = pool_.Take();
  if (tensors_of_4_bits_.empty()) return;
  const auto round_up = [&] {
    image_.constants.resize(RoundUp(static_cast<int64_t>(image_.constants.size()),
                                    static_cast<int64_t>(kTensorAlignment)));
  };
  round_up();
  const uint64_t first = image_.constants.size();
  image_.constants_of_4_bits = first;
  for (const int32_t tensor : tensors_of_4_bits_)
    image_.tensors[static_cast<size_t>(tensor)].offset += first;
  const std::vector<uint8_t> small = pool_of_4_bits_.Take();
  image_.constants.insert(image_.constants.end(), small.begin(), small.end());
  round_up();
}

ProgramImage LoweringContext::Finish() {
  BindOutputs();
  if (fuse_) {
    FuseElementwise(image_, memory_);
    PlaceConcats(image_, memory_);
    ReuseInPlace(image_, memory_);
  }
  PlaceBuffers();
  PlaceConstants();
  return std::move(image_);
}

}  // namespace rshift
