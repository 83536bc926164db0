#include "base/error.h"
#include "codegen/container/container.h"
#include "runtime/cost.h"
#include "runtime/runtime.h"
#include "runtime/shared_weights.h"
#include "runtime/verify.h"

namespace rshift {

Program Program::Load(const std::string& path, const LoadOptions& options) {
  return FromFile(options.copy ? MappedFile::Copy(path) : MappedFile::Map(path), path,
                  options.limits);
}

Program Program::FromBytes(std::span<const uint8_t> bytes, const std::string& where,
                           const Limits& limits) {
  return FromFile(MappedFile::FromBytes(bytes), where, limits);
}

Program Program::FromFile(MappedFile file, const std::string& where, const Limits& limits) {
  Program program;
  program.where_ = where;
  program.limits_ = limits;
  program.shared_weights_ = std::make_shared<SharedWeights>();
  program.file_ = std::move(file);
  ContainerView view = ReadStructure(program.file_.bytes(), where);
  ConstantsCheck constants(view, where);
  try {
    // First: the proof itself takes as long as the work it bounds.
    program.work_ = CheckLimits(view.image, limits, where);
    program.proof_ = Verify(view.image, constants, where);
  } catch (const Error&) {
    constants.Finish();  // what is damaged is called damaged, whatever else it looks like
    throw;
  }
  constants.Finish();
  (void)CostModelOf(view.image, where);  // refused here, not by the first session
  program.image_ = std::move(view.image);
  program.constants_ = view.constants;
  program.unpacked_ = std::move(view.unpacked);
  return program;
}

}  // namespace rshift
