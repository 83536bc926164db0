// SHA-256 by OpenSSL's libcrypto: ties calibration tables to their model and their samples. It is
// no authentication.
#ifndef RSHIFT_GRAPH_SHA256_H_
#define RSHIFT_GRAPH_SHA256_H_

#include <cstdint>
#include <span>
#include <string>

namespace rshift {

// 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::span<const uint8_t> bytes);
std::string Sha256OfText(const std::string& text);
// The same of all `parts` behind one another.
std::string Sha256HexOfParts(std::span<const std::span<const uint8_t>> parts);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_SHA256_H_
