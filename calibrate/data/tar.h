// Members of a tar file, where they lie: nothing is unpacked or copied. Not for use outside
// calibrate/data and its tests.
#ifndef RSHIFT_CALIBRATE_DATA_TAR_H_
#define RSHIFT_CALIBRATE_DATA_TAR_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rshift {

struct TarMember {
  std::string path;
  std::span<const uint8_t> bytes;  // points into the file
};

// The regular files in it, in their order. Throws kInvalidInput naming `where` for a file that is
// damaged, cut off, packed (.tar.gz) or no tar file.
std::vector<TarMember> ListTar(std::span<const uint8_t> file, const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_TAR_H_
