#include "calibrate/data/npy.h"

#include <charconv>
#include <cstring>
#include <string_view>

#include "base/atomic_file.h"
#include "base/element_type.h"
#include "base/error.h"
#include "base/half.h"
#include "base/mapped_file.h"
#include "calibrate/data/regular_file.h"

namespace rshift {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr size_t kMaxHeader = 65536;
constexpr size_t kMaxNpyRank = 8;
constexpr int64_t kMaxElements = int64_t{1} << 40;

struct TypeName {
  DType dtype;
  const char* name;
};
constexpr TypeName kTypes[] = {{DType::kF32, "<f4"}, {DType::kF16, "<f2"}, {DType::kF64, "<f8"},
                               {DType::kS8, "|i1"},  {DType::kU8, "|u1"},  {DType::kS16, "<i2"},
                               {DType::kU16, "<u2"}, {DType::kS32, "<i4"}, {DType::kU32, "<u4"},
                               {DType::kS64, "<i8"}, {DType::kU64, "<u8"}, {DType::kBool, "|b1"}};

// Reads the header's Python dictionary: string keys; values are strings, True/False and tuples of
// numbers.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  void Parse() {
    Expect('{');
    while (!Accept('}')) {
      const std::string key = String();
      Expect(':');
      if (key == "descr" && descr.empty())
        descr = String();
      else if (key == "fortran_order" && !has_order_)
        fortran_order = Bool();
      else if (key == "shape" && !has_shape_)
        Tuple();
      else
        Bad(Cat("key '", key, "' is unknown or there twice"));
      if (!Accept(',')) {
        Expect('}');
        break;
      }
    }
    Blanks();
    if (at_ != text_.size()) Bad("text behind the dictionary");
    if (descr.empty() || !has_order_ || !has_shape_)
      Bad("'descr', 'fortran_order' or 'shape' is missing");
  }

  std::string descr;
  bool fortran_order = false;
  Shape shape;

 private:
  [[noreturn]] void Bad(const std::string& what) const {
    Fail(ErrorCode::kInvalidInput, where_, ": damaged .npy header at character ", at_, ": ", what,
         "; save the array again with numpy.save");
  }
  void Blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool Accept(char c) {
    Blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void Expect(char c) {
    if (!Accept(c)) Bad(Cat("expected '", c, "'"));
  }
  std::string String() {
    Blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) {
      Bad("expected a quoted text (arrays of structures are not supported)");
    }
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) Bad("a quoted text does not end");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    for (char c : result) {
      if (c < ' ' || c > '~') Bad("unprintable text");
    }
    at_ = end + 1;
    return result;
  }
  bool Bool() {
    Blanks();
    has_order_ = true;
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    Bad("expected True or False");
  }
  void Tuple() {
    has_shape_ = true;
    Expect('(');
    while (!Accept(')')) {
      Blanks();
      int64_t dim = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0 || dim > kMaxElements) Bad("expected a size");
      if (shape.size() == kMaxNpyRank) Bad(Cat("more than ", kMaxNpyRank, " dimensions"));
      at_ = static_cast<size_t>(end - text_.data());
      shape.push_back(dim);
      if (!Accept(',')) {
        Expect(')');
        break;
      }
    }
  }

  std::string_view text_;
  const std::string& where_;
  size_t at_ = 0;
  bool has_order_ = false, has_shape_ = false;
};

DType ParseType(std::string descr, const std::string& where) {
  if (!descr.empty() && descr[0] == '=') descr[0] = '<';
  for (const auto& [dtype, name] : kTypes) {
    // One byte has no order: every mark is fine there.
    if (descr == name || (SizeOf(dtype) == 1 && descr.size() == 3 && descr.substr(1) == name + 1))
      return dtype;
  }
  Fail(ErrorCode::kInvalidInput, where, ": elements are '", descr,
       "', expected little-endian numbers (f2 f4 f8 i1..i8 u1..u8 or bool); convert with "
       "x.astype('<f4')");
}

template <typename T>
void Convert(std::span<const uint8_t> data, std::vector<float>& out) {
  for (size_t i = 0; i < out.size(); ++i) {
    T element;
    std::memcpy(&element, data.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<float>(element);
  }
}

// The elements with the last index running fastest, of those with the first index running fastest.
std::vector<uint8_t> ToCOrder(std::span<const uint8_t> data, const Shape& shape, size_t size) {
  std::vector<uint8_t> ordered(data.size());
  std::vector<size_t> strides;  // in bytes, of each dimension in `data`
  size_t stride = size;
  for (const int64_t dim : shape) {
    strides.push_back(stride);
    stride *= static_cast<size_t>(dim);
  }
  Shape index(shape.size(), 0);
  size_t from = 0;
  for (size_t to = 0; to < ordered.size(); to += size) {
    std::memcpy(&ordered[to], &data[from], size);
    for (size_t d = shape.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < shape[d]) break;
      from -= strides[d] * static_cast<size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return ordered;
}

}  // namespace

NpyView ParseNpy(std::span<const uint8_t> file, const std::string& where) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  RSHIFT_REQUIRE(text.substr(0, kNpyMagic.size()) == kNpyMagic && file.size() >= 12,
                 ErrorCode::kInvalidInput, where,
                 ": not a .npy file (it does not begin with \\x93NUMPY)");
  const int major = file[6];
  RSHIFT_REQUIRE(major >= 1 && major <= 3, ErrorCode::kInvalidInput, where, ": .npy version ",
                 major, ", expected 1 to 3");
  const size_t prefix = major == 1 ? 10 : 12;
  size_t length = file[8] | static_cast<size_t>(file[9]) << 8;
  if (major > 1)
    length |= static_cast<size_t>(file[10]) << 16 | static_cast<size_t>(file[11]) << 24;
  RSHIFT_REQUIRE(length <= kMaxHeader && length <= file.size() - prefix, ErrorCode::kInvalidInput,
                 where, ": the .npy header is cut off or damaged");
  HeaderParser header(text.substr(prefix, length), where);
  header.Parse();
  NpyView view{ParseType(header.descr, where), header.shape, file.subspan(prefix + length)};
  int64_t elements = 1;
  for (const int64_t dim : view.shape) {
    RSHIFT_REQUIRE(dim == 0 || elements <= kMaxElements / dim, ErrorCode::kInvalidInput, where,
                   ": the shape ", ToString(view.shape), " is too large");
    elements *= dim;
  }
  const uint64_t bytes = static_cast<uint64_t>(elements) * SizeOf(view.dtype);
  RSHIFT_REQUIRE(view.data.size() == bytes, ErrorCode::kInvalidInput, where, ": holds ",
                 view.data.size(), " bytes of elements, ", ToString(view.shape), " ",
                 Name(view.dtype), " needs ", bytes, "; the file is damaged, save it again");
  if (header.fortran_order && view.shape.size() > 1) {
    view.reordered =
        std::make_shared<std::vector<uint8_t>>(ToCOrder(view.data, view.shape, SizeOf(view.dtype)));
    view.data = *view.reordered;
  }
  return view;
}

std::vector<uint8_t> NpyHeader(const NumpyArray& array) {
  const char* descr = nullptr;
  for (const auto& [dtype, name] : kTypes) {
    if (dtype == array.dtype) descr = name;
  }
  RSHIFT_REQUIRE(descr != nullptr, ErrorCode::kUnsupported, "array '", array.name,
                 "': ", Name(array.dtype), " has no numpy type");
  const uint64_t bytes = static_cast<uint64_t>(NumElements(array.shape)) * SizeOf(array.dtype);
  RSHIFT_REQUIRE(array.bytes.size() == bytes, ErrorCode::kInternal, "array '", array.name,
                 "' holds ", array.bytes.size(), " bytes, its shape ", ToString(array.shape),
                 " needs ", bytes);
  return NpyHeaderOf(descr, array.shape);
}

std::vector<uint8_t> NpyHeaderOf(const std::string& descr, const Shape& shape) {
  std::string dict = Cat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (");
  for (size_t i = 0; i < shape.size(); ++i) dict += Cat(i == 0 ? "" : " ", shape[i], ",");
  if (shape.size() > 1) dict.pop_back();  // (3,) but (3, 4)
  dict += "), }";
  while ((kNpyMagic.size() + 4 + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::vector<uint8_t> header(kNpyMagic.begin(), kNpyMagic.end());
  for (const size_t byte : {size_t{1}, size_t{0}, dict.size() & 0xff, dict.size() >> 8}) {
    header.push_back(static_cast<uint8_t>(byte));
  }
  header.insert(header.end(), dict.begin(), dict.end());
  return header;
}

std::vector<float> ToFloats(DType dtype, std::span<const uint8_t> data) {
  std::vector<float> out(data.size() / SizeOf(dtype));
  if (dtype == DType::kF16) {
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = HalfToFloat(static_cast<uint16_t>(data[2 * i] | data[2 * i + 1] << 8));
    return out;
  }
  VisitElement(dtype == DType::kBool ? DType::kU8 : dtype, [&](auto type) {
    using T = ElementOf<decltype(type)>;
    if constexpr (std::is_void_v<T>) {
      Fail(ErrorCode::kInternal, "array of ", Name(dtype));
    } else {
      Convert<T>(data, out);
    }
  });
  return out;
}

NumpyArray ReadNpy(const std::string& path) {
  RegularFileSize(path);  // refuses devices and pipes
  const MappedFile file = MappedFile::Map(path);
  const NpyView view = ParseNpy(file.bytes(), path);
  return {"", view.dtype, view.shape, {view.data.begin(), view.data.end()}};
}

void WriteNpy(const std::string& path, const NumpyArray& array) {
  std::vector<uint8_t> file = NpyHeader(array);
  file.insert(file.end(), array.bytes.begin(), array.bytes.end());
  WriteFileAtomic(path, std::span<const uint8_t>(file));
}

}  // namespace rshift
