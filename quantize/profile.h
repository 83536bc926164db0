// The arithmetic of a program: which framework's integers it reproduces.
#ifndef RSHIFT_QUANTIZE_PROFILE_H_
#define RSHIFT_QUANTIZE_PROFILE_H_

#include <cstdint>
#include <string>

namespace rshift {

enum class ProfileId : uint8_t {
  kTpu,            // Multiplier/rshift, one rounding: NUMERICS.md
  kTfLite,         // the table of an older TFLite: D1, D2, F2 by operator and granularity
  kTfLiteRef,      // LiteRT reference kernels
  kTfLiteRuy,      // LiteRT optimised kernels without delegates
  kTfLiteXnnpack,  // LiteRT's default delegate, on x86
  kOnnxRuntime,    // ONNX Runtime's CPU provider, x86-64 with AVX2 and FMA or better
  kCaffe2,         // QNNPACK and Caffe2's Int8 operators
  kOneDnn,         // oneDNN (MKL-DNN) with output scales
  kAscend,         // AscendQuant, AscendDequant, fp16 between
};
inline constexpr int kProfileCount = 9;

// One arithmetic of a profile that has several, in place of its default.
enum class Variant : uint8_t {
  kByTable,
  // tflite: on every Conv and MatMul
  kD1,
  kD2,
  kF2,
  // caffe2: QNNPACK's other requantizations
  kFp32,
  kPrecise,
  // ascend: round_mode (the default is Round, ties to even); the attributes of AscendQuant in fp16
  kAway,
  kFloor,
  kCeil,
  kTruncate,
  kHalf,
};
inline constexpr int kVariantCount = 11;

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
// Throw kInvalidInput listing the names.
ProfileId ParseProfile(const std::string& name);
Variant ParseVariant(const std::string& name);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_PROFILE_H_
