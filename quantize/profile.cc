#include "quantize/profile.h"

#include "base/error.h"

namespace rshift {
namespace {

constexpr const char* kNames[kProfileCount] = {"tpu",        "tflite",         "tflite-ref",
                                               "tflite-ruy", "tflite-xnnpack", "onnxruntime",
                                               "caffe2",     "onednn",         "ascend"};
constexpr const char* kVariants[] = {"", "d1", "d2", "f2"};

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

Variant ParseVariant(const std::string& name) {
  for (int i = 1; i < 4; ++i) {
    if (name == kVariants[i]) return static_cast<Variant>(i);
  }
  Fail(ErrorCode::kInvalidInput, "unknown variant '", name, "', expected d1, d2 or f2");
}

}  // namespace rshift
