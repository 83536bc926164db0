// Not for use outside calibrate/data.
#ifndef RSHIFT_CALIBRATE_DATA_REGULAR_FILE_H_
#define RSHIFT_CALIBRATE_DATA_REGULAR_FILE_H_

#include <cstdint>
#include <string>

namespace rshift {

// The size of a regular file, or of the one a link points to. Throws kInvalidInput for anything
// else: a device or a pipe might be read for ever.
uint64_t RegularFileSize(const std::string& path);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_REGULAR_FILE_H_
