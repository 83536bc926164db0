#include "quantize/profile.h"

#include "base/error.h"

namespace rshift {
namespace {

constexpr const char* kNames[] = {
#define RSHIFT_PROFILE(name, text) text,
#include "quantize/profiles.def"
};
constexpr const char* kVariants[] = {
    "",
#define RSHIFT_VARIANT(name, text, profile) text,
#include "quantize/profiles.def"
};

// All variants that are not the default's, or those of one profile.
template <typename Wanted>
std::string ListVariants(Wanted wanted) {
  std::string all;
  for (int i = 1; i < kVariantCount; ++i) {
    if (wanted(static_cast<Variant>(i)))
      all += (all.empty() ? "" : ", ") + std::string(kVariants[i]);
  }
  const size_t last = all.rfind(", ");
  return last == std::string::npos ? all : all.replace(last, 2, " or ");
}

}  // namespace

const char* Name(ProfileId id) { return kNames[static_cast<size_t>(id)]; }
const char* Name(Variant variant) { return kVariants[static_cast<size_t>(variant)]; }

ProfileId ParseProfile(const std::string& name) {
  std::string all;
  for (int i = 0; i < kProfileCount; ++i) {
    if (name == kNames[i]) return static_cast<ProfileId>(i);
    all += (i == 0 ? "" : ", ") + std::string(kNames[i]);
  }
  Fail(ErrorCode::kInvalidInput, "unknown profile '", name, "', expected one of ", all);
}

bool HasVariant(ProfileId id, Variant variant) {
  switch (variant) {
    case Variant::kByTable:
      return true;
#define RSHIFT_VARIANT(name, text, profile) \
  case Variant::k##name:                    \
    return id == ProfileId::k##profile;
#include "quantize/profiles.def"
  }
  return false;
}

std::string VariantNames(ProfileId id) {
  return ListVariants([id](Variant variant) { return HasVariant(id, variant); });
}

int MultiplierBits(Variant variant) {
  switch (variant) {
    case Variant::kBits32:
      return 32;
    case Variant::kBits25:
      return 25;
    case Variant::kBits16:
      return 16;
    case Variant::kBits8:
      return 8;
    default:
      return 0;
  }
}

Variant ParseVariant(const std::string& name) {
  for (int i = 1; i < kVariantCount; ++i) {
    if (name == kVariants[i]) return static_cast<Variant>(i);
  }
  Fail(ErrorCode::kInvalidInput, "unknown variant '", name, "', expected ",
       ListVariants([](Variant) { return true; }));
}

}  // namespace rshift
