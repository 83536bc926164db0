#include "base/version.h"

namespace rshift {

const char* Version() { return "rshift " RSHIFT_VERSION; }

}  // namespace rshift
