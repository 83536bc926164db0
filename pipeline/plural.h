// Numbers of things, for people.
#ifndef RSHIFT_PIPELINE_PLURAL_H_
#define RSHIFT_PIPELINE_PLURAL_H_

#include <cstddef>
#include <string>

namespace rshift {

// "1 sample", "2 samples".
std::string Count(size_t number, const std::string& thing);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_PLURAL_H_
