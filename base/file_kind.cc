#include "base/file_kind.h"

#include <string_view>

namespace rshift {
namespace {

using namespace std::string_view_literals;

struct Kind {
  size_t at;
  std::string_view magic;
  const char* what;
};

constexpr Kind kKinds[] = {
    {0, "RSHIFT\x1a\0"sv,
     "an Rshift program: model_runner runs it, model_tool info tells what it holds"},
    {0, "RSTATS\x1a\0"sv, "calibration statistics: model_tool stats prints them"},
    {0, "rshift_calibration:"sv, "a calibration table: give it to model_deploy --calibration"},
    {4, "TFL3"sv, "a TensorFlow Lite model: model_deploy makes a program of it"},
    {0, "\x89HDF\r\n"sv, "an HDF5 file, as Keras writes: export the model to ONNX (tf2onnx)"},
    {0, "\x93NUMPY"sv, "a .npy array"},
    {0, "\x1f\x8b"sv, "compressed by gzip: unpack it"},
    {0, "\xff\xd8\xff"sv, "a JPEG picture"},
    {0, "\x89PNG"sv, "a PNG picture"},
    {0, "version https://git-lfs"sv,
     "a pointer of Git LFS: fetch the file itself with git lfs pull"},
    {0, "<?xml"sv, "an XML file: give the ONNX model that it was made from"},
    {0, "7767517\n"sv, "a text of ncnn: give the ONNX model that it was made from"},
};

bool Holds(std::string_view text, size_t at, std::string_view part) {
  return text.size() >= at && text.substr(at).starts_with(part);
}

// The first entry's name says whose archive it is.
const char* ArchiveKind(std::string_view text) {
  const std::string_view start = text.substr(0, 256);
  if (start.find(".npy") != std::string_view::npos) return "an .npz file of arrays";
  if (start.find("data.pkl") != std::string_view::npos ||
      start.find("archive/") != std::string_view::npos) {
    return "a PyTorch file: export the model with torch.onnx.export";
  }
  return "a zip archive: unpack it";
}

// ModelProto: ir_version first, then the producer's name, version, domain, the graph or the opset.
bool LooksLikeOnnx(std::string_view text) {
  constexpr std::string_view kNext = "\x12\x1a\x22\x28\x32\x3a\x42";
  return text.size() >= 4 && text[0] == 0x08 && text[1] >= 1 && text[1] < 32 &&
         kNext.find(text[2]) != std::string_view::npos;
}

}  // namespace

std::string KindNote(std::span<const uint8_t> bytes, bool expects_onnx) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const char* what = nullptr;
  for (const Kind& kind : kKinds) {
    if (Holds(text, kind.at, kind.magic)) what = kind.what;
  }
  if (Holds(text, 0, "PK\x03\x04"sv)) what = ArchiveKind(text);
  if (what == nullptr && !expects_onnx && LooksLikeOnnx(text)) {
    what = "an ONNX model by its first bytes: model_deploy makes a program of it";
  }
  return what == nullptr ? "" : std::string("; it is ") + what;
}

}  // namespace rshift
