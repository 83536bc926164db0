// model_runner --draw: what a program has found, drawn on the pictures that it was given.
#ifndef RSHIFT_TOOLS_DRAW_OUTPUTS_H_
#define RSHIFT_TOOLS_DRAW_OUTPUTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "codegen/container/image.h"

namespace rshift {

struct DrawOptions {
  std::string path;   // a .png for one picture, a folder for several
  std::string names;  // a file of classes' names, or ""
};

// Whether pictures go into this folder, and not into this file.
bool IsDrawFolder(const std::string& path);

// Boxes of a graph of configs/postprocess (outputs boxes, scores, classes behind an --append), or a
// class map (one output of integers, a class for each pixel).
class OutputDrawer {
 public:
  // Throws kInvalidInput where what the outputs mean is unknown, where the samples are no pictures,
  // or where one file is given for several.
  OutputDrawer(const ProgramImage& image, const std::optional<Preprocess>& preprocess,
               const Dataset& dataset, const DrawOptions& options);
  // `outputs`: of ONNX names, cut to what counts.
  void Draw(int64_t sample, const std::vector<NumpyArray>& outputs) const;

 private:
  enum class Kind { kBoxes, kClassMap };

  // Each picture has a file of its own, which is none of the pictures.
  void CheckFiles() const;
  std::string PathOf(int64_t sample) const;
  void AddBoxes(Image& picture, const std::vector<NumpyArray>& outputs) const;
  void AddClasses(Image& picture, const NumpyArray& map) const;

  const Dataset& dataset_;
  Kind kind_ = Kind::kBoxes;
  InputPreprocess recipe_;
  int height_ = 0, width_ = 0;  // of the network's input
  std::string path_;
  bool is_folder_ = false;
  std::vector<std::string> names_;
};

}  // namespace rshift

#endif  // RSHIFT_TOOLS_DRAW_OUTPUTS_H_
