#include "quantize/profile.h"

#include "base/error.h"

namespace rshift {
namespace {

constexpr const char* kNames[kProfileCount] = {"tpu",        "tflite",         "tflite-ref",
                                               "tflite-ruy", "tflite-xnnpack", "onnxruntime",
                                               "caffe2",     "onednn",         "ascend"};
constexpr const char* kVariants[kVariantCount] = {
    "", "d1", "d2", "f2", "fp32", "precise", "away", "floor", "ceil", "truncate", "fp16"};

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
    case Variant::kD1:
    case Variant::kD2:
    case Variant::kF2:
      return id == ProfileId::kTfLite;
    case Variant::kFp32:
    case Variant::kPrecise:
      return id == ProfileId::kCaffe2;
    default:
      return id == ProfileId::kAscend;
  }
}

std::string VariantNames(ProfileId id) {
  return ListVariants([id](Variant variant) { return HasVariant(id, variant); });
}

Variant ParseVariant(const std::string& name) {
  for (int i = 1; i < kVariantCount; ++i) {
    if (name == kVariants[i]) return static_cast<Variant>(i);
  }
  Fail(ErrorCode::kInvalidInput, "unknown variant '", name, "', expected ",
       ListVariants([](Variant) { return true; }));
}

}  // namespace rshift
