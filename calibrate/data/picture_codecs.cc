#include "calibrate/data/picture_codecs.h"

#include <dlfcn.h>

#include <opencv2/core/version.hpp>

#include "base/error.h"

namespace rshift {
namespace {

// By the ABI's rules for names of C++, which is what dlsym asks for.
constexpr const char* kSymbolOfImdecode = "_ZN2cv8imdecodeERKNS_11_InputArrayEi";
constexpr const char* kSymbolOfImencode =
    "_ZN2cv8imencodeERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKNS_11_InputArrayE"
    "RSt6vectorIhSaIhEERKSB_IiSaIiEE";

struct Codecs {
  cv::Mat (*imdecode)(cv::InputArray, int) = nullptr;
  bool (*imencode)(const std::string&, cv::InputArray, std::vector<uint8_t>&,
                   const std::vector<int>&) = nullptr;
};

template <typename Function>
void Find(void* library, const char* name, Function*& function) {
  void* const symbol = dlsym(library, name);
  RSHIFT_REQUIRE(symbol != nullptr, ErrorCode::kUnsupported, "OpenCV's picture library has no ",
                 name, "; expected the version that Rshift was built with (", CV_VERSION, ")");
  function = reinterpret_cast<Function*>(symbol);
}

// `what` needs them, and `instead` does without.
Codecs Load(const char* what, const char* instead) {
  const char* const name = RSHIFT_OPENCV_IMGCODECS;
  void* const library = dlopen(name, RTLD_NOW);
  const char* const reason = library == nullptr ? dlerror() : "";
  RSHIFT_REQUIRE(library != nullptr, ErrorCode::kUnsupported, what, " needs OpenCV's library ",
                 name, ", which cannot be loaded (", reason, "); install it, or ", instead);
  Codecs codecs;
  Find(library, kSymbolOfImdecode, codecs.imdecode);
  Find(library, kSymbolOfImencode, codecs.imencode);
  return codecs;
}

// A failed attempt throws each time.
const Codecs& LoadedCodecs(const char* what, const char* instead) {
  static const Codecs codecs = Load(what, instead);
  return codecs;
}

}  // namespace

cv::Mat DecodePicture(std::span<const uint8_t> file, int flags) {
  // A matrix of one row over bytes that are only read.
  const cv::Mat bytes(1, static_cast<int>(file.size()), CV_8UC1, const_cast<uint8_t*>(file.data()));
  return LoadedCodecs("a picture that is no JPEG in RGB or gray",
                      "convert the pictures to such JPEG files")
      .imdecode(bytes, flags);
}

bool EncodePicture(const std::string& extension, const cv::Mat& picture,
                   std::vector<uint8_t>& bytes) {
  return LoadedCodecs("writing a picture", "leave --picture out")
      .imencode(extension, picture, bytes, {});
}

}  // namespace rshift
