#include <charconv>
#include <map>

#include "base/error.h"
#include "calibrate/data/dataset.h"
#include "calibrate/data/idx.h"
#include "calibrate/data/npy.h"
#include "calibrate/data/regular_file.h"
#include "calibrate/data/source.h"
#include "calibrate/data/text_lines.h"

namespace rshift {
namespace {

std::map<std::string, int64_t> ReadNamedLabels(const std::string& path) {
  std::map<std::string, int64_t> labels;
  for (const auto& [number, line] : ReadLines(path)) {
    const size_t blank = line.find_last_of(" \t");
    int64_t label = 0;
    const char* first = blank == std::string::npos ? line.data() : line.data() + blank + 1;
    const auto [end, error] = std::from_chars(first, line.data() + line.size(), label);
    RSHIFT_REQUIRE(
        blank != std::string::npos && error == std::errc() && end == line.data() + line.size(),
        ErrorCode::kInvalidInput, path, ":", number, ": '", line,
        "', expected `file class`, class a whole number");
    const std::string name = line.substr(0, line.find_last_not_of(" \t", blank) + 1);
    const auto [at, is_new] = labels.try_emplace(name, label);
    RSHIFT_REQUIRE(is_new || at->second == label, ErrorCode::kInvalidInput, path, ":", number,
                   ": '", name, "' has another class further up");
  }
  return labels;
}

// By their paths from the folder that all of them share, too: samples are named so.
std::map<std::string, int64_t> WithShortNames(std::map<std::string, int64_t> labels) {
  std::vector<std::string> names;
  names.reserve(labels.size());
  for (const auto& [name, label] : labels) names.push_back(name);
  const size_t shared = CommonFolderLength(names);
  for (const std::string& name : names) labels.try_emplace(name.substr(shared), labels[name]);
  return labels;
}

std::vector<int64_t> MatchByName(const std::string& path, const Dataset& dataset) {
  const std::map<std::string, int64_t> by_name = WithShortNames(ReadNamedLabels(path));
  std::vector<int64_t> labels;
  std::map<std::string, std::string> by_file_name;  // which sample took the label of a file name
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const std::string name = dataset.name(i);
    auto at = by_name.find(name);
    if (at == by_name.end()) {
      at = by_name.find(FileName(name));
      const std::string& other = by_file_name.try_emplace(FileName(name), name).first->second;
      RSHIFT_REQUIRE(at == by_name.end() || other == name, ErrorCode::kInvalidInput, path, ": '",
                     FileName(name), "' may be sample '", other, "' or '", name,
                     "'; give the labels by path from the data set's folder");
    }
    RSHIFT_REQUIRE(at != by_name.end(), ErrorCode::kInvalidInput, path,
                   ": has no label for sample '", name, "'; add a line `", name, " class`");
    labels.push_back(at->second);
  }
  return labels;
}

std::vector<int64_t> FromNpy(const std::string& path) {
  const NumpyArray array = ReadNpy(path);
  const bool real = array.dtype == DType::kF32 || array.dtype == DType::kF64 ||
                    array.dtype == DType::kF16 || array.dtype == DType::kBool ||
                    array.dtype == DType::kU64;
  RSHIFT_REQUIRE(!real, ErrorCode::kInvalidInput, path, ": labels are ", Name(array.dtype),
                 ", expected integers of at most 64 bits; convert with y.astype('<i8')");
  const size_t size = SizeOf(array.dtype);
  const bool is_signed = array.dtype == DType::kS8 || array.dtype == DType::kS16 ||
                         array.dtype == DType::kS32 || array.dtype == DType::kS64;
  std::vector<int64_t> labels(array.bytes.size() / size);
  for (size_t i = 0; i < labels.size(); ++i) {
    uint64_t bits = 0;
    for (size_t b = 0; b < size; ++b) bits |= uint64_t{array.bytes[i * size + b]} << (8 * b);
    const int unused = static_cast<int>(64 - 8 * size);
    labels[i] =
        is_signed ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
  }
  return labels;
}

}  // namespace

std::vector<int64_t> ReadLabels(const std::string& path, const Dataset& dataset,
                                const LabelOptions& options) {
  if (path == kOwnLabels) return OwnLabels(dataset, options);
  const int64_t batch = options.batch;
  RegularFileSize(path);  // refuses devices and pipes
  std::vector<int64_t> labels;
  RSHIFT_REQUIRE(!HasExtension(path, ".npz"), ErrorCode::kInvalidInput, path,
                 ": labels are a .npy, an idx file or a text, not a .npz; save the one array of it "
                 "by numpy.save");
  if (HasExtension(path, ".npy")) {
    labels = FromNpy(path);
  } else if (LooksLikeIdx(path)) {
    const IdxArray array = ReadIdx(path);
    RSHIFT_REQUIRE(array.shape.size() == 1, ErrorCode::kInvalidInput, path, ": has the shape ",
                   ToString(array.shape),
                   ", idx labels have one dimension; is this the file of the images?");
    labels.assign(array.bytes.begin(), array.bytes.end());
  } else {
    RSHIFT_REQUIRE(batch == 1, ErrorCode::kInvalidInput, path,
                   ": gives labels by name, but samples are run ", batch,
                   " at a time; give a .npy or idx file with one label for each in order, or "
                   "deploy the model for a batch of 1");
    return MatchByName(path, dataset);
  }
  const int64_t wanted = dataset.size() * batch, found = static_cast<int64_t>(labels.size());
  RSHIFT_REQUIRE(wanted <= found && found < wanted + batch, ErrorCode::kInvalidInput, path,
                 ": holds ", found, " labels, the data set has ", wanted, " samples");
  labels.resize(static_cast<size_t>(wanted));
  return labels;
}

}  // namespace rshift
