// Which Rshift this is.
#ifndef RSHIFT_BASE_VERSION_H_
#define RSHIFT_BASE_VERSION_H_

namespace rshift {

// "rshift 1.2.3": the project's name and version, as CMakeLists.txt gives them once.
const char* Version();

}  // namespace rshift

#endif  // RSHIFT_BASE_VERSION_H_
