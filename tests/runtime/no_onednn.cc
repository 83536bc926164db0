// For portable_run.cc on AArch64, where oneDNN is not built: portable runs do not name it.
#include "runtime/onednn/float_library.h"

namespace rshift {

std::string OneDnnVersion() { return "none"; }

}  // namespace rshift
