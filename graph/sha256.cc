#include "graph/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <memory>

#include "base/error.h"

namespace rshift {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

std::string Sha256OfText(const std::string& text) {
  return Sha256Hex({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

std::string Sha256HexOfParts(std::span<const std::span<const uint8_t>> parts) {
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  std::array<uint8_t, 32> digest;
  bool ok = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  for (const std::span<const uint8_t> part : parts) {
    ok = ok && EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1;
  }
  ok = ok && EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1;
  RSHIFT_REQUIRE(ok, ErrorCode::kUnsupported,
                 "OpenSSL's libcrypto gives no SHA-256: is its configuration (openssl.cnf) whole, "
                 "or is there no memory left?");
  std::string text;
  for (const uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string Sha256Hex(std::span<const uint8_t> bytes) {
  return Sha256HexOfParts(std::span<const std::span<const uint8_t>>(&bytes, 1));
}

}  // namespace rshift
