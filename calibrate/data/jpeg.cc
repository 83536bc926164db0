#include "calibrate/data/jpeg.h"

// clang-format off: jpeglib.h wants <cstdio> before itself
#include <jerror.h>
#include <jpeglib.h>

#include <cstdio>
// clang-format on

#include <csetjmp>
#include <cstddef>
#include <string_view>

#include "base/error.h"
#include "calibrate/data/image_size.h"

namespace rshift {
namespace {

constexpr int kMaxScans = 500;  // of a progressive file: more is made to cost time

// Warnings that leave every pixel as it was meant.
bool IsHarmless(int message) {
  return message == JWRN_EXTRANEOUS_DATA || message == JWRN_ADOBE_XFORM ||
         message == JWRN_JFIF_MAJOR || message == JWRN_NOT_SEQUENTIAL ||
         message == JWRN_TOO_MUCH_DATA;
}

// One file being decoded. libjpeg leaves by longjmp: the functions that set the jump hold nothing
// that needs a destructor.
class JpegReader {
 public:
  JpegReader() {
    info_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = OnError;
    errors_.base.emit_message = OnMessage;
    progress_.progress_monitor = OnProgress;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // False: damage() says why.
  bool ReadHeader(std::span<const uint8_t> file) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_decompress(&info_);
    jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xffff);
    jpeg_mem_src(&info_, file.data(), file.size());
    jpeg_read_header(&info_, TRUE);
    return true;
  }

  // Rows of width() pixels behind one another; `pixels` has room for all.
  bool ReadPixels(J_COLOR_SPACE space, uint8_t* pixels) {
    if (setjmp(errors_.jump) != 0) return false;
    info_.progress = &progress_;
    info_.out_color_space = space;
    jpeg_start_decompress(&info_);
    const size_t row_bytes =
        static_cast<size_t>(info_.output_width) * static_cast<size_t>(info_.output_components);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = pixels + row_bytes * info_.output_scanline;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  const char* damage() const { return errors_.text; }  // "": none
  int width() const { return static_cast<int>(info_.image_width); }
  int height() const { return static_cast<int>(info_.image_height); }
  int components() const { return info_.num_components; }
  std::span<const uint8_t> exif() const {
    constexpr std::string_view kName("Exif\0\0", 6);
    for (const jpeg_marker_struct* m = info_.marker_list; m != nullptr; m = m->next) {
      const std::string_view data(reinterpret_cast<const char*>(m->data), m->data_length);
      if (data.starts_with(kName)) return {m->data + kName.size(), m->data_length - kName.size()};
    }
    return {};
  }

 private:
  struct Errors {
    jpeg_error_mgr base{};  // first: libjpeg knows this part only
    std::jmp_buf jump{};
    char text[JMSG_LENGTH_MAX] = "";
  };

  static Errors& Of(j_common_ptr info) { return *reinterpret_cast<Errors*>(info->err); }
  static void OnError(j_common_ptr info) {
    Errors& errors = Of(info);
    errors.base.format_message(info, errors.text);
    std::longjmp(errors.jump, 1);
  }
  // Level -1: a warning, the data is damaged and libjpeg guesses on.
  static void OnMessage(j_common_ptr info, int level) {
    Errors& errors = Of(info);
    if (level >= 0 || IsHarmless(errors.base.msg_code) || errors.text[0] != '\0') return;
    errors.base.format_message(info, errors.text);
  }
  static void OnProgress(j_common_ptr info) {
    if (!info->is_decompressor) return;
    if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMaxScans) return;
    Errors& errors = Of(info);
    std::snprintf(errors.text, sizeof(errors.text), "more than %d scans", kMaxScans);
    std::longjmp(errors.jump, 1);
  }

  jpeg_decompress_struct info_{};
  jpeg_progress_mgr progress_{};
  Errors errors_;
};

// The orientation of an Exif block, a small TIFF file: tag 0x112 of its first directory.
int FindOrientation(std::span<const uint8_t> exif) {
  constexpr size_t kTag = 0x112;
  const bool big = exif.size() > 8 && exif[0] == 'M';
  const auto number = [&](size_t at, size_t size) -> size_t {
    if (at > exif.size() || size > exif.size() - at) return 0;
    size_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | exif[at + (big ? i : size - 1 - i)];
    return value;
  };
  const size_t directory = number(4, 4);
  for (size_t i = 0; i < number(directory, 2); ++i) {
    const size_t entry = directory + 2 + 12 * i;
    if (number(entry, 2) != kTag) continue;
    const size_t value = number(entry + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

J_COLOR_SPACE SpaceOf(InputPreprocess::Color color) {
  if (color == InputPreprocess::Color::kGray) return JCS_GRAYSCALE;
  return color == InputPreprocess::Color::kRgb ? JCS_EXT_RGB : JCS_EXT_BGR;
}

}  // namespace

std::optional<JpegPicture> DecodeJpeg(std::span<const uint8_t> file, InputPreprocess::Color color,
                                      const std::string& where) {
  JpegReader reader;
  const auto require_whole = [&](bool ok) {
    RSHIFT_REQUIRE(ok && reader.damage()[0] == '\0', ErrorCode::kInvalidInput, where,
                   ": the picture is damaged (", reader.damage(),
                   "); get the file again, or remove it from the data set");
  };
  require_whole(reader.ReadHeader(file));
  RequireImageSize({reader.width(), reader.height()}, where);
  const bool cmyk = reader.components() == 4;
  const int channels = cmyk ? 4 : color == InputPreprocess::Color::kGray ? 1 : 3;
  JpegPicture picture;
  picture.orientation = FindOrientation(reader.exif());  // libjpeg forgets it with the pixels
  Image& image = picture.image;
  image = {reader.height(), reader.width(), channels, {}};
  image.pixels.resize(static_cast<size_t>(image.height) * static_cast<size_t>(image.width) *
                      static_cast<size_t>(channels));
  require_whole(reader.ReadPixels(cmyk ? JCS_CMYK : SpaceOf(color), image.pixels.data()));
  if (cmyk) return std::nullopt;
  return picture;
}

}  // namespace rshift
