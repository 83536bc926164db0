// From the structs of rshift/toolchain.h to what pipeline takes.
#ifndef RSHIFT_RSHIFT_TOOLCHAIN_OPTIONS_H_
#define RSHIFT_RSHIFT_TOOLCHAIN_OPTIONS_H_

#include "base/progress.h"
#include "pipeline/calibrate.h"
#include "pipeline/deploy_options.h"
#include "rshift/toolchain.h"

namespace rshift {

// Both throw kInvalidInput, naming function and field, for what no option may be.
CalibrateOptions OptionsOf(const rshift_calibrate_options& given, const char* function);
DeployOptions OptionsOf(const rshift_deploy_options& given, const char* function);

// The caller's progress function; it throws where that wants the work to end, and remembers it.
class CallersProgress {
 public:
  CallersProgress(rshift_progress progress, void* user) : progress_(progress), user_(user) {}
  ProgressFunction function();
  bool interrupted() const { return interrupted_; }

 private:
  rshift_progress progress_;
  void* user_;
  bool interrupted_ = false;  // written by one thread at a time, read when all have ended
};

}  // namespace rshift

#endif  // RSHIFT_RSHIFT_TOOLCHAIN_OPTIONS_H_
