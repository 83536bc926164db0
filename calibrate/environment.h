// What F32 results may depend on. Recorded in statistics and tables.
#ifndef RSHIFT_CALIBRATE_ENVIRONMENT_H_
#define RSHIFT_CALIBRATE_ENVIRONMENT_H_

#include <map>
#include <string>

namespace rshift {

// "cpu" (model name), "onednn" and "rshift" (versions). Portable runs depend on neither of the
// first two: "arithmetic" (portable) in their place.
std::map<std::string, std::string> DescribeEnvironment(bool portable);
bool IsPortable(const std::map<std::string, std::string>& environment);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_ENVIRONMENT_H_
