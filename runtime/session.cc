#include <omp.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "runtime/barrier.h"
#include "runtime/cost.h"
#include "runtime/runtime.h"
#include "runtime/shared_weights.h"
#include "runtime/step.h"
#include "runtime/steps/fused_epilogue.h"
#include "runtime/thread_count_tuner.h"
#include "runtime/threads.h"

namespace rshift {
namespace {

using Clock = std::chrono::steady_clock;

int ChooseThreads(int asked) {
  RSHIFT_REQUIRE(asked >= 0 && asked <= kMaxThreads, ErrorCode::kInvalidInput, "threads: ", asked,
                 " is out of range, expected 1..", kMaxThreads,
                 ", or 0 for OMP_NUM_THREADS, else as many as the CPU has");
  return asked == 0 ? DefaultThreads() : asked;
}

}  // namespace

struct Session::Impl {
  const Program* program = nullptr;
  int threads = 1;
  Barrier barrier;
  int most_threads = 1;  // of the next run
  std::optional<ThreadCountTuner> tuner;
  double least_share_ns = 0;
  AlignedBuffer arena;
  Scratch scratch;
  // One per pass: a command with its fused epilogue.
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<std::unique_ptr<FusedEpilogue>> epilogues;  // of some steps
  std::vector<size_t> first_command;                      // and, behind the last pass, their number
  std::vector<double> milliseconds;                       // of RunTimed, one per command
  std::vector<size_t> may_fault;                          // passes whose steps keep faults
  std::vector<double> cost_ns;  // estimate: a stretch gets the threads that are worth waking

  std::span<std::byte> Bytes(int tensor) {
    const TensorRecord& record = program->image().tensors.at(static_cast<size_t>(tensor));
    return {reinterpret_cast<std::byte*>(arena.data()) + record.offset, record.extent()};
  }

  void AddPass(size_t command, size_t end, double nanoseconds, const SessionOptions& options);
  double& PassMilliseconds(size_t pass) { return milliseconds[first_command[pass]]; }
  // Passes [begin, end), all parallel: one region, a barrier after each. With `timed`, thread 0
  // keeps the clock.
  void RunParallel(size_t begin, size_t end, bool timed) noexcept;
  void RunSerial(size_t index, bool timed) noexcept;
  void RunPass(size_t index) noexcept;  // alone
  void ForgetFaults() noexcept {
    for (const size_t pass : may_fault) steps[pass]->faults()->Clear();
  }
  void RunAll(bool timed) noexcept;
  // The end of the stretch of parallel passes that begins at `begin`.
  size_t StretchEnd(size_t begin) const;
  // How many threads run passes [begin, end) together.
  int TeamSize(size_t begin, size_t end) const;
};

// The step of commands [command, end), of which all but the first are its fused epilogue.
void Session::Impl::AddPass(size_t command, size_t end, double nanoseconds,
                            const SessionOptions& options) {
  const ProgramImage& image = program->image();
  const auto context_of = [&](size_t i) {
    return StepContext{.program = program,
                       .command = &image.commands[i],
                       .arena = reinterpret_cast<std::byte*>(arena.data()),
                       .isa = options.isa,
                       .threads = threads,
                       .portable = options.portable,
                       .scratch = &scratch,
                       .weights = &program->shared_weights()};
  };
  StepContext context = context_of(command);
  // A command of the float library opens its own region: its threads are settled here.
  if (FindOp(context.command->opcode)->op_class == OpClass::kFloatLibrary && !options.portable)
    context.threads = WorthwhileThreads(nanoseconds, threads, options.least_share_ns);
  if (end > command + 1) {
    std::vector<StepContext> stages;
    for (size_t i = command + 1; i < end; ++i) stages.push_back(context_of(i));
    epilogues.push_back(std::make_unique<FusedEpilogue>(stages));
    context.epilogue = epilogues.back()->args();
  }
  std::unique_ptr<Step> step = MakeStep(context);
  RSHIFT_REQUIRE(
      step != nullptr, ErrorCode::kUnsupported, program->where(), ": ", CommandName(image, command),
      " has no implementation here: link Rshift::float in place of Rshift::runtime (inside Rshift: "
      "call RegisterFloatLibrary() once before), or deploy without F32 operators");
  if (step->faults() != nullptr) may_fault.push_back(steps.size());
  steps.push_back(std::move(step));
  first_command.push_back(command);
  cost_ns.push_back(nanoseconds);
}

size_t Session::Impl::StretchEnd(size_t begin) const {
  size_t end = begin + 1;
  while (end < steps.size() && steps[end]->parallel()) ++end;
  return end;
}

int Session::Impl::TeamSize(size_t begin, size_t end) const {
  double nanoseconds = 0;
  for (size_t i = begin; i < end; ++i) nanoseconds += cost_ns[i];
  return WorthwhileThreads(nanoseconds, threads, least_share_ns);
}

void Session::Impl::RunParallel(size_t begin, size_t end, bool timed) noexcept {
  const int team_size = std::min(TeamSize(begin, end), most_threads);
  if (team_size == 1) {
    for (size_t i = begin; i < end; ++i) RunSerial(i, timed);
    return;
  }
#pragma omp parallel num_threads(team_size)
  {
    // The system may give fewer threads than asked: the steps divide by what is there.
    const Team team{omp_get_thread_num(), omp_get_num_threads()};
    Clock::time_point start = Clock::now();
    for (size_t i = begin; i < end; ++i) {
      steps[i]->Run(team);
      barrier.Wait(team.count);
      if (timed && team.index == 0) {
        const Clock::time_point now = Clock::now();
        PassMilliseconds(i) = std::chrono::duration<double, std::milli>(now - start).count();
        start = now;
      }
    }
  }
}

void Session::Impl::RunSerial(size_t index, bool timed) noexcept {
  const Clock::time_point start = timed ? Clock::now() : Clock::time_point();
  steps[index]->Run(Team{});
  if (timed) {
    PassMilliseconds(index) =
        std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }
}

void Session::Impl::RunPass(size_t index) noexcept {
  if (steps[index]->parallel()) return RunParallel(index, index + 1, false);
  RunSerial(index, false);
}

void Session::Impl::RunAll(bool timed) noexcept {
  ForgetFaults();
  size_t i = 0;
  while (i < steps.size()) {
    if (!steps[i]->parallel()) {
      RunSerial(i++, timed);
      continue;
    }
    const size_t end = StretchEnd(i);
    RunParallel(i, end, timed);
    i = end;
  }
}

Session::Session(const Program& program, const SessionOptions& options)
    : impl_(std::make_unique<Impl>()) {
  RSHIFT_REQUIRE(CpuSupports(options.isa), ErrorCode::kUnsupported, "instruction set ",
                 Name(options.isa), ": this CPU lacks it; the best it has is ", Name(BestIsa()));
  impl_->program = &program;
  impl_->threads = ChooseThreads(options.threads);
  impl_->most_threads = impl_->threads;
  impl_->least_share_ns = options.least_share_ns;
  const ProgramImage& image = program.image();
  impl_->arena = AlignedBuffer(image.arena_size);
  const std::vector<double> estimates =
      EstimateNanoseconds(image, CostModelOf(image, program.where()));
  impl_->steps.reserve(image.commands.size());
  impl_->milliseconds.resize(image.commands.size());
  for (size_t i = 0; i < image.commands.size();) {
    size_t end = i + 1;
    while (!options.one_by_one && end < image.commands.size() &&
           image.commands[end].Get(Field::kFuseWithPrevious) != 0) {
      ++end;
    }
    const auto first = estimates.begin() + static_cast<int64_t>(i);
    const auto last = estimates.begin() + static_cast<int64_t>(end);
    impl_->AddPass(i, end, std::accumulate(first, last, 0.0), options);
    i = end;
  }
  impl_->first_command.push_back(image.commands.size());
  // With every thread asked for in every command, it is the caller who decides.
  if (options.least_share_ns > 0 && impl_->threads > 1) impl_->tuner.emplace(impl_->threads);
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

int Session::threads() const { return impl_->threads; }

std::vector<double> Session::PredictedMilliseconds() const {
  const ProgramImage& image = impl_->program->image();
  const CostModel model = CostModelOf(image, impl_->program->where());
  std::vector<double> predicted(image.commands.size());
  for (size_t i = 0; i < impl_->steps.size();) {
    const bool parallel = impl_->steps[i]->parallel();
    const size_t end = parallel ? impl_->StretchEnd(i) : i + 1;
    const Opcode opcode = image.commands[impl_->first_command[i]].opcode;
    const bool library = FindOp(opcode)->op_class == OpClass::kFloatLibrary;  // its own team
    const int team = parallel || library ? impl_->TeamSize(i, end) : 1;
    for (; i < end; ++i) {
      predicted[impl_->first_command[i]] =
          1e-6 * DividedNanoseconds(model, impl_->cost_ns[i], team);
    }
  }
  return predicted;
}

SessionMemory Session::memory() const {
  SessionMemory memory{.arena = impl_->arena.size(), .steps = impl_->scratch.size()};
  for (const std::unique_ptr<Step>& step : impl_->steps) memory.steps += step->memory_bytes();
  for (const auto& stages : impl_->epilogues) memory.steps += stages->memory_bytes();
  return memory;
}

std::span<std::byte> Session::Input(int index) {
  return impl_->Bytes(impl_->program->image().inputs.at(static_cast<size_t>(index)).tensor);
}

std::span<const std::byte> Session::Output(int index) const {
  return Tensor(impl_->program->image().outputs.at(static_cast<size_t>(index)).tensor);
}

std::span<const std::byte> Session::Tensor(int tensor) const {
  const TensorRecord& record = impl_->program->image().tensors.at(static_cast<size_t>(tensor));
  if (record.region == Region::kArena) return impl_->Bytes(tensor);
  return std::as_bytes(impl_->program->constants().subspan(record.offset, record.bytes()));
}

void Session::Run() noexcept {
  if (!impl_->tuner) return impl_->RunAll(false);
  impl_->most_threads = impl_->tuner->threads();
  const Clock::time_point start = Clock::now();
  impl_->RunAll(false);
  impl_->tuner->Took(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  impl_->most_threads = impl_->threads;
}

std::string Session::Fault() const {
  const ProgramImage& image = impl_->program->image();
  for (const size_t pass : impl_->may_fault) {
    const std::string text = impl_->steps[pass]->faults()->Text();
    if (!text.empty()) return Cat(CommandName(image, impl_->first_command[pass]), ": ", text);
  }
  return "";
}

void Session::RunObserved(const Observer& after_command) {
  impl_->ForgetFaults();
  for (size_t i = 0; i < impl_->steps.size(); ++i) {
    impl_->RunPass(i);
    for (size_t c = impl_->first_command[i]; c < impl_->first_command[i + 1]; ++c)
      after_command(static_cast<int>(c));
  }
}

void Session::RunFrom(int command) {
  for (size_t i = 0; i < impl_->steps.size(); ++i) {
    if (impl_->first_command[i] >= static_cast<size_t>(command)) impl_->RunPass(i);
  }
}

std::vector<double> Session::RunTimed() {
  impl_->RunAll(true);
  return impl_->milliseconds;
}

}  // namespace rshift
