// The arithmetic of a program: which framework's integers it reproduces.
#ifndef RSHIFT_QUANTIZE_PROFILE_H_
#define RSHIFT_QUANTIZE_PROFILE_H_

#include <cstdint>
#include <string>

namespace rshift {

enum class ProfileId : uint8_t {
#define RSHIFT_PROFILE(name, text) k##name,
#include "quantize/profiles.def"
};
inline constexpr int kProfileCount = 0
#define RSHIFT_PROFILE(...) +1
#include "quantize/profiles.def"
    ;

// One arithmetic of a profile that has several, in place of its default.
enum class Variant : uint8_t {
  kByTable,
#define RSHIFT_VARIANT(name, text, profile) k##name,
#include "quantize/profiles.def"
};
inline constexpr int kVariantCount = 1
#define RSHIFT_VARIANT(...) +1
#include "quantize/profiles.def"
    ;

struct Profile {
  ProfileId id = ProfileId::kTpu;
  Variant variant = Variant::kByTable;
  friend bool operator==(const Profile&, const Profile&) = default;
};

const char* Name(ProfileId id);     // "tflite-ref", as --profile and the binary spell it
const char* Name(Variant variant);  // "d1"; "" by table
// kByTable goes with every profile.
bool HasVariant(ProfileId id, Variant variant);
// "d1, d2 or f2"; "" for a profile with one arithmetic.
std::string VariantNames(ProfileId id);
// "32" to "8": bits of the multipliers of Conv and MatMul; 0 for any other.
int MultiplierBits(Variant variant);
// Throw kInvalidInput listing the names.
ProfileId ParseProfile(const std::string& name);
Variant ParseVariant(const std::string& name);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_PROFILE_H_
