// What a command becomes at load: pointers resolved, kernel chosen, one virtual call to run.
#ifndef RSHIFT_RUNTIME_STEP_H_
#define RSHIFT_RUNTIME_STEP_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "codegen/container/image.h"
#include "runtime/kernels/kernels.h"
#include "runtime/runtime.h"

namespace rshift {

// This thread's place in the team that runs a command together.
struct Team {
  int index = 0;
  int count = 1;
};

// Elements or bytes: threads that divide an array by multiples of it write different cache lines.
inline constexpr int64_t kCacheLine = 64;

struct Range {
  int64_t begin = 0, end = 0;
};
// Static, deterministic partition of [0, total) into count parts; multiples of `grain`, except the
// last one.
Range ThreadRange(int64_t total, int64_t grain, const Team& team);

// "command 3 (add 'res1')": for messages.
std::string CommandName(const ProgramImage& image, size_t index);

// What a step came upon in its data that has no answer: "index 7 (element 3 of src2) is outside
// an axis of 5". Kept until the next run; of several the first in order, whatever the number of
// threads.
class FaultKeeper {
 public:
  void Report(int64_t number, int64_t index, int64_t size) noexcept;
  void Clear() noexcept { number_ = kNone; }
  std::string Text() const;  // "" for none

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  std::mutex mutex_;
  int64_t number_ = kNone, index_ = 0, size_ = 0;
};

class Step {
 public:
  virtual ~Step() = default;
  // Parallel steps: called once by every thread of the team, which together cover the work. Others:
  // called by one thread, outside any parallel region.
  virtual void Run(const Team& team) noexcept = 0;
  virtual bool parallel() const { return true; }
  // Buffers of its own; what a plain member or a short list takes does not count.
  virtual size_t memory_bytes() const { return 0; }
  // Null for steps that cannot come upon any.
  virtual FaultKeeper* faults() { return nullptr; }
};

// Memory that the steps of a session share, since they run one after the other.
class Scratch {
 public:
  // For a step that is being made.
  void Reserve(size_t bytes) {
    if (bytes > memory_.size()) memory_ = AlignedBuffer(bytes);
  }
  // For a step that runs: what it has reserved, and maybe more.
  std::byte* data() { return reinterpret_cast<std::byte*>(memory_.data()); }
  size_t size() const { return memory_.size(); }

 private:
  AlignedBuffer memory_;
};

// What a step is made from.
struct StepContext {
  const Program* program = nullptr;
  const Command* command = nullptr;
  std::byte* arena = nullptr;
  Isa isa = Isa::kScalar;
  int threads = 1;
  bool portable = false;             // SessionOptions::portable
  Scratch* scratch = nullptr;        // of portable steps; lives as long as they do
  SharedWeights* weights = nullptr;  // of the program
  EpilogueArgs epilogue = {};  // of a command that leads a pass (OpTraits): its fused epilogue

  const TensorRecord& Record(Field f) const;
  const std::vector<uint32_t>& WeightSums() const;  // Proof::weight_sums of the command
  bool Has(Field f) const;                          // an optional tensor that is there
  const void* In(Field f) const;                    // const region or arena
  void* Out(Field f) const;
  template <typename T>
  const T* In(Field f) const {
    return static_cast<const T*>(In(f));
  }
  template <typename T>
  T* Out(Field f) const {
    return static_cast<T*>(Out(f));
  }
};

// The step of the context's command. Null where rshift_float has it (OpClass::kFloatLibrary) and
// nobody has called RegisterFloatLibrary() of runtime/onednn/float_library.h.
std::unique_ptr<Step> MakeStep(const StepContext& context);

// rshift_float's maker of steps, for all its commands; once, before the first Session.
using StepMaker = std::unique_ptr<Step> (*)(const StepContext&);
void RegisterFloatSteps(StepMaker make);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEP_H_
