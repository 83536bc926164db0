#include "tools/draw_outputs.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "calibrate/draw_picture.h"
#include "preprocess/placement.h"
#include "runtime/tensor_values.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

const TensorRecord* FindOutput(const ProgramImage& image, const std::string& name) {
  for (const Binding& output : image.outputs) {
    if (output.name == name) return &image.tensors[output.tensor];
  }
  return nullptr;
}

bool IsInteger(DType type) {
  return type == DType::kS32 || type == DType::kS64 || type == DType::kU8 || type == DType::kS8;
}

bool EndsInBoxes(const ProgramImage& image) {
  const TensorRecord *boxes = FindOutput(image, "boxes"), *scores = FindOutput(image, "scores"),
                     *classes = FindOutput(image, "classes");
  return image.meta.contains("append_sha256") && boxes != nullptr && scores != nullptr &&
         classes != nullptr && boxes->shape.size() == 2 && boxes->shape[1] == 4 &&
         scores->shape.size() == 1 && classes->shape.size() == 1;
}

// Height and width of 1 x H x W, 1 x 1 x H x W or H x W integers.
std::optional<std::pair<int64_t, int64_t>> MapSize(const Shape& shape) {
  if (shape.size() < 2) return std::nullopt;
  const int64_t height = shape[shape.size() - 2], width = shape.back();
  if (height < 2 || width < 2 || NumElements(shape) != height * width) return std::nullopt;
  return std::pair{height, width};
}

bool IsClassMap(const ProgramImage& image) {
  if (image.outputs.size() != 1) return false;
  const TensorRecord& record = image.tensors[image.outputs[0].tensor];
  return IsInteger(record.dtype) && !record.quantized && MapSize(OnnxShape(record)).has_value();
}

std::vector<double> Values(const NumpyArray& array) {
  std::vector<double> values(static_cast<size_t>(NumElements(array.shape)));
  const auto read = [&](auto element) {
    for (size_t i = 0; i < values.size(); ++i) {
      std::memcpy(&element, array.bytes.data() + i * sizeof element, sizeof element);
      values[i] = static_cast<double>(element);
    }
  };
  switch (array.dtype) {
    case DType::kF32:
      read(float{});
      break;
    case DType::kS64:
      read(int64_t{});
      break;
    case DType::kS32:
      read(int32_t{});
      break;
    case DType::kU8:
      read(uint8_t{});
      break;
    case DType::kS8:
      read(int8_t{});
      break;
    default:
      Fail(ErrorCode::kUnsupported, "--draw: output '", array.name, "' is ", Name(array.dtype),
           ", expected F32 or integers");
  }
  return values;
}

const NumpyArray& Find(const std::vector<NumpyArray>& outputs, const std::string& name) {
  const auto found = std::find_if(outputs.begin(), outputs.end(),
                                  [&](const NumpyArray& array) { return array.name == name; });
  RSHIFT_REQUIRE(found != outputs.end(), ErrorCode::kInternal, "--draw: no output ", name);
  return *found;
}

// "cat/1.jpg" -> "cat_1.png".
std::string PngName(std::string name) {
  name = name.substr(0, name.rfind('.'));
  std::replace(name.begin(), name.end(), '/', '_');
  return name + ".png";
}

}  // namespace

bool IsDrawFolder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || fs::is_directory(path, ignored);
}

OutputDrawer::OutputDrawer(const ProgramImage& image, const std::optional<Preprocess>& preprocess,
                           const Dataset& dataset, const DrawOptions& options)
    : dataset_(dataset), path_(options.path) {
  const bool boxes = EndsInBoxes(image);
  RSHIFT_REQUIRE(boxes || IsClassMap(image), ErrorCode::kInvalidInput, "--draw ", path_,
                 ": what the program's outputs mean is unknown; expected boxes, scores and classes "
                 "of a graph of configs/postprocess (model_deploy --append), or one class map of "
                 "integers");
  kind_ = boxes ? Kind::kBoxes : Kind::kClassMap;
  RSHIFT_REQUIRE(image.inputs.size() == 1 && preprocess && preprocess->inputs.size() == 1,
                 ErrorCode::kInvalidInput, "--draw ", path_,
                 ": the program does not take one picture with a preprocessing: where its pixels "
                 "lie in the picture is unknown");
  recipe_ = preprocess->inputs[0];
  const Shape shape = OnnxShape(image.tensors[image.inputs[0].tensor]);
  const bool nhwc = recipe_.layout == InputPreprocess::PixelLayout::kNhwc;
  RSHIFT_REQUIRE(shape.size() == 4 && shape[0] == 1, ErrorCode::kInvalidInput, "--draw ", path_,
                 ": the program's input is ", ToString(shape), ", expected one picture at a time");
  height_ = static_cast<int>(shape[nhwc ? 1 : 2]);
  width_ = static_cast<int>(shape[nhwc ? 2 : 3]);
  if (!options.names.empty()) names_ = ReadClassNames(options.names);
  is_folder_ = IsDrawFolder(path_) || dataset.size() > 1;
  RSHIFT_REQUIRE(dataset.size() == 1 || !path_.ends_with(".png"), ErrorCode::kInvalidInput,
                 "--draw ", path_, ": there are ", dataset.size(),
                 " samples, one file holds one; give a folder");
  CheckFiles();
  if (is_folder_) fs::create_directories(path_);
}

void OutputDrawer::CheckFiles() const {
  std::set<std::string> files;
  std::vector<std::string> pictures;
  for (int64_t i = 0; i < dataset_.size(); ++i) {
    RSHIFT_REQUIRE(files.insert(PathOf(i)).second, ErrorCode::kInvalidInput, "--draw ", path_,
                   ": two samples would both be drawn in ", PathOf(i),
                   "; draw them in several runs");
    const std::vector<SampleSource> sources = dataset_.sources(i);
    RSHIFT_REQUIRE(
        sources.size() == 1 && sources[0].paths.size() == 1 && IsSampleFile(sources[0].paths[0]),
        ErrorCode::kInvalidInput, "--draw ", path_, ": sample '", dataset_.name(i),
        "' is no picture in a file of its own; give pictures or folders of them");
    pictures.push_back(sources[0].paths[0]);
  }
  for (const std::string& file : files) {
    std::error_code ignored;
    const bool exists = fs::exists(file, ignored);
    for (const std::string& picture : exists ? pictures : std::vector<std::string>{}) {
      RSHIFT_REQUIRE(!SameFile(file, picture), ErrorCode::kInvalidInput, "--draw ", path_, ": ",
                     file,
                     " is one of the pictures, which it would overwrite; give another folder");
    }
  }
}

std::string OutputDrawer::PathOf(int64_t sample) const {
  if (!is_folder_) return path_;
  return (fs::path(path_) / PngName(dataset_.name(sample))).string();
}

void OutputDrawer::Draw(int64_t sample, const std::vector<NumpyArray>& outputs) const {
  const std::string source = dataset_.sources(sample)[0].paths[0];
  Image picture = DecodeImage(source, InputPreprocess::Color::kBgr);
  if (kind_ == Kind::kBoxes)
    AddBoxes(picture, outputs);
  else
    AddClasses(picture, outputs[0]);
  WriteImage(PathOf(sample), picture);
}

void OutputDrawer::AddBoxes(Image& picture, const std::vector<NumpyArray>& outputs) const {
  const Placement place = PlacePicture(recipe_, picture.height, picture.width, path_);
  const std::vector<double> boxes = Values(Find(outputs, "boxes")),
                            scores = Values(Find(outputs, "scores")),
                            classes = Values(Find(outputs, "classes"));
  const auto x = [&](double part) {
    return (part * width_ - place.left) * picture.width / place.width;
  };
  const auto y = [&](double part) {
    return (part * height_ - place.top) * picture.height / place.height;
  };
  std::vector<DrawnBox> drawn;
  for (size_t i = 0; i < scores.size(); ++i) {
    const auto label = static_cast<int64_t>(classes[i]);
    RSHIFT_REQUIRE(names_.empty() || (label >= 0 && label < static_cast<int64_t>(names_.size())),
                   ErrorCode::kInvalidInput, "--names: has ", names_.size(),
                   " lines, a box is of class ", label,
                   "; expected the name of each class on a line of its own");
    char score[16];
    std::snprintf(score, sizeof score, "%.2f", scores[i]);
    const std::string name =
        names_.empty() ? std::to_string(label) : names_[static_cast<size_t>(label)];
    drawn.push_back({x(boxes[4 * i]), y(boxes[4 * i + 1]), x(boxes[4 * i + 2]), y(boxes[4 * i + 3]),
                     label, name + " " + score});
  }
  DrawBoxes(picture, drawn);
}

void OutputDrawer::AddClasses(Image& picture, const NumpyArray& map) const {
  const auto [height, width] = *MapSize(map.shape);
  const Placement place = PlacePicture(recipe_, picture.height, picture.width, path_);
  const double y = static_cast<double>(height) / height_, x = static_cast<double>(width) / width_;
  ClassMap classes{
      static_cast<int>(height), static_cast<int>(width), {}, place.top * y, place.left * x,
      place.height * y,         place.width * x};
  for (const double value : Values(map)) classes.classes.push_back(static_cast<int64_t>(value));
  BlendClasses(picture, classes);
}

}  // namespace rshift
