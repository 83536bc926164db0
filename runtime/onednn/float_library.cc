#include "runtime/onednn/float_library.h"

#include <oneapi/dnnl/dnnl.hpp>

#include "base/error.h"
#include "isa/ops/visit.h"
#include "runtime/f32/makers.h"
#include "runtime/onednn/makers.h"

namespace rshift {

void RegisterFloatLibrary() {
  RegisterFloatSteps([](const StepContext& context) {
    std::unique_ptr<Step> step;
    isa::Visit(*context.command, [&]<typename C>(const C& c) {
      if constexpr (C::kClass == OpClass::kFloatLibrary) step = f32::MakeStep(context, c);
    });
    return step;
  });
}

std::string OneDnnVersion() {
  const dnnl_version_t* version = dnnl_version();
  return Cat(version->major, ".", version->minor, ".", version->patch);
}

}  // namespace rshift
