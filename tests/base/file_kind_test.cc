#include "base/file_kind.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace rshift {
namespace {

std::string NoteOf(std::string_view text, bool expects_onnx = false) {
  return KindNote({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, expects_onnx);
}

using namespace std::string_view_literals;

TEST(KindNoteTest, SaysWhatAWellKnownFileIsAndWhoReadsIt) {
  const std::pair<std::string_view, const char*> cases[] = {
      {"\x1c\0\0\0TFL3\0\0"sv, "TensorFlow Lite model: model_deploy makes a program of it"},
      {"RSHIFT\x1a\0\1\2"sv, "Rshift program: model_runner runs it"},
      {"RSTATS\x1a\0"sv, "calibration statistics: model_tool stats"},
      {"rshift_calibration: 1\n"sv, "calibration table: give it to model_deploy"},
      {"PK\3\4xxxxnet/data.pklxx"sv, "PyTorch file: export the model with torch.onnx.export"},
      {"PK\3\4xxxxx.npyxx"sv, ".npz file"},
      {"PK\3\4xxxx"sv, "zip archive: unpack it"},
      {"\x89HDF\r\n\x1a\n"sv, "HDF5"},
      {"\x1f\x8b\x08"sv, "gzip"},
      {"version https://git-lfs.github.com/spec/v1\n"sv, "git lfs pull"}};
  for (const auto& [bytes, part] : cases) {
    const std::string note = NoteOf(bytes, true);
    EXPECT_EQ(note.rfind("; it is ", 0), 0u) << note;
    EXPECT_NE(note.find(part), std::string::npos) << note;
    EXPECT_EQ(note.find('\n'), std::string::npos);
  }
}

TEST(KindNoteTest, AnOnnxModelIsNamedUnlessThatIsWhatTheReaderWants) {
  const std::string_view model = "\x08\x07\x12\x07pytorch"sv;
  EXPECT_NE(NoteOf(model).find("an ONNX model by its first bytes: model_deploy"),
            std::string::npos);
  EXPECT_EQ(NoteOf(model, true), "");
}

TEST(KindNoteTest, UnknownShortAndEmptyFilesHaveNoNote) {
  for (std::string_view text : {""sv, "x"sv, "hello, this is no model\n"sv, "PK"sv, "\x08\x07"sv})
    EXPECT_EQ(NoteOf(text), "") << text;
}

}  // namespace
}  // namespace rshift
