// Load -> verify -> execute a .rshift program.
//
//   Program program = Program::Load("net.rshift");
//   Session session(program, {.threads = 2});
//   std::memcpy(session.Input(0).data(), image, session.Input(0).size());  // before each run
//   session.Run();
//   std::span<const std::byte> logits = session.Output(0);
//
// A Program is immutable and may serve several sessions (one per host thread). Everything that can
// fail fails in Load or in the Session's constructor; Run() is noexcept and allocates nothing for
// integer commands.
#ifndef RSHIFT_RUNTIME_RUNTIME_H_
#define RSHIFT_RUNTIME_RUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/mapped_file.h"
#include "codegen/container/image.h"
#include "runtime/limits.h"
#include "runtime/proof.h"

namespace rshift {

class SharedWeights;

struct LoadOptions {
  bool copy = false;   // read the file into memory instead of mapping it
  Limits limits = {};  // what a run may take; more is refused (runtime/limits.h)
};

class Program {
 public:
  // Throws kIo / kCorrupt / kUnsupported (limits): a program that loads is verified (see
  // runtime/verify.h).
  static Program Load(const std::string& path, const LoadOptions& options = {});
  static Program FromBytes(std::span<const uint8_t> bytes, const std::string& where = "program",
                           const Limits& limits = {});

  // image().constants is empty: see constants().
  const ProgramImage& image() const { return image_; }
  std::span<const uint8_t> constants() const { return constants_; }
  // Bytes of memory that the constants take besides the file, which is mapped: 0, or all of them
  // where some have 4 bits in the file.
  uint64_t unpacked_bytes() const { return unpacked_ == nullptr ? 0 : unpacked_->size(); }
  const std::string& where() const { return where_; }
  const Proof& proof() const { return proof_; }
  uint64_t file_bytes() const { return file_.bytes().size(); }
  // What one run takes, at most, and what it may.
  const RunWork& work() const { return work_; }
  const Limits& limits() const { return limits_; }
  // For the steps of its sessions.
  SharedWeights& shared_weights() const { return *shared_weights_; }

 private:
  static Program FromFile(MappedFile file, const std::string& where, const Limits& limits);

  std::string where_;
  MappedFile file_;
  ProgramImage image_;
  std::span<const uint8_t> constants_;
  std::shared_ptr<const AlignedBuffer> unpacked_;  // what they point into, where it is not the file
  Proof proof_;
  RunWork work_;
  Limits limits_;
  std::shared_ptr<SharedWeights> shared_weights_;
};

enum class Isa : uint8_t { kScalar = 0, kAvx2 = 1, kAvxVnni = 2, kAvx512Vnni = 3, kNeonDot = 4 };
const char* Name(Isa isa);
// Throws kInvalidInput for an unknown name.
Isa ParseIsa(const std::string& name);
bool CpuSupports(Isa isa);
Isa BestIsa();

struct SessionOptions {
  // 0: DefaultThreads() (threads.h). Run() uses fewer where they do not help
  // (thread_count_tuner.h), as on a machine that is busy otherwise: the same bytes.
  int threads = 0;
  Isa isa = BestIsa();  // throws kUnsupported when the CPU lacks it
  // Nanoseconds of work that make a thread worth waking: below, a barrier and a possible wake-up
  // cost more than they save. 0: every thread takes part in every command, however small (tests).
  double least_share_ns = 30000;
  // Fused commands (Field::kFuseWithPrevious) run as commands of their own: the same bytes, more
  // slowly, and an observer sees what lies between.
  bool one_by_one = false;
  // F32 convolutions and matrix products by the runtime's own loops (f32/portable_product.h) in
  // place of rshift_float's: more slowly, the same bytes on every CPU.
  bool portable = false;
};

// Bytes that a session has of its own; the weights stay with the program.
struct SessionMemory {
  uint64_t arena = 0;  // tensors
  uint64_t steps = 0;  // requantization tables, rows of zero points, scratch, reordered F32 weights
};

class Session {
 public:
  // Called after each command with its index; runs outside any parallel region. The tensor memory
  // is valid until return. A command and its fused epilogue are one pass (but see one_by_one): the
  // calls for all of them come behind it.
  using Observer = std::function<void(int command)>;

  Session(const Program& program, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;

  int threads() const;
  SessionMemory memory() const;
  // Tensor memory in the tensor's own layout and type. Every input is to be filled before each run:
  // what a run has read for the last time makes room for other tensors, so that afterwards the
  // memory holds anything. (In a program compiled for observation, the input is still there.)
  std::span<std::byte> Input(int index);
  // The whole tensor. Of an output whose size depends on the data, only a part counts:
  // runtime/outputs.h.
  std::span<const std::byte> Output(int index) const;
  // What the last run came upon in its data that has no answer, with the command: a computed index
  // outside of an axis, which reads zeros. "" when there was nothing: ask before outputs are used.
  std::string Fault() const;
  // Any tensor, from its first byte to its last: a view of another one has its rows
  // TensorRecord::pitch apart. Arena contents are only meaningful while it is alive (or everywhere
  // in a program compiled for observation).
  std::span<const std::byte> Tensor(int tensor) const;

  void Run() noexcept;
  void RunObserved(const Observer& after_command);  // exceptions of the observer propagate
  // Runs `command` and those behind it; what earlier ones wrote is as the last run left it (in a
  // program compiled for observation). `command` begins a pass, or is one past the last.
  void RunFrom(int command);
  // Runs with a clock around each pass; ms per command, of fused commands 0.
  std::vector<double> RunTimed();
  // What RunTimed should give by the program's cost model (runtime/cost.h), with the threads that
  // each pass gets; of fused commands 0.
  std::vector<double> PredictedMilliseconds() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_RUNTIME_H_
