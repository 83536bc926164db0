// The C interface over preprocess/: pictures by the recipe that the program has recorded.
#include "rshift/preprocess.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "preprocess/apply.h"
#include "preprocess/pixels.h"
#include "preprocess/recorded.h"
#include "preprocess/resize.h"
#include "rshift/c_status.h"
#include "rshift/handles.h"
#include "rshift/session_values.h"

namespace rshift {
namespace {

PixelOrder OrderOf(rshift_pixel_order order, const std::string& where) {
  switch (order) {
    case RSHIFT_GRAY:
      return PixelOrder::kGray;
    case RSHIFT_RGB:
      return PixelOrder::kRgb;
    case RSHIFT_BGR:
      return PixelOrder::kBgr;
    case RSHIFT_RGBA:
      return PixelOrder::kRgba;
    case RSHIFT_BGRA:
      return PixelOrder::kBgra;
  }
  Fail(ErrorCode::kInvalidInput, where, ": order is ", static_cast<int>(order),
       ", expected RSHIFT_GRAY, RSHIFT_RGB, RSHIFT_BGR, RSHIFT_RGBA or RSHIFT_BGRA");
}

// Checked: what a view of it reads is what the caller has said.
PixelView CheckedView(const rshift_picture& picture, PixelOrder order, const std::string& where) {
  RSHIFT_REQUIRE(picture.height > 0 && picture.width > 0, ErrorCode::kInvalidInput, where, ": is ",
                 picture.width, "x", picture.height, " pixels (width x height)");
  RequireImageSize({static_cast<int64_t>(std::min<size_t>(picture.width, kMaxImagePixels + 1)),
                    static_cast<int64_t>(std::min<size_t>(picture.height, kMaxImagePixels + 1))},
                   where);
  const size_t row = picture.width * static_cast<size_t>(PixelBytes(order));
  RSHIFT_REQUIRE(picture.row_bytes == 0 || picture.row_bytes >= row, ErrorCode::kInvalidInput,
                 where, ": row_bytes is ", picture.row_bytes, ", a row of ", picture.width,
                 " pixels has ", row, "; 0 says that rows have no gaps");
  RSHIFT_REQUIRE(picture.pixels != nullptr, ErrorCode::kInvalidInput, where, ": pixels is NULL");
  return {picture.pixels, static_cast<int>(picture.height), static_cast<int>(picture.width),
          PixelBytes(order),
          static_cast<ptrdiff_t>(picture.row_bytes == 0 ? row : picture.row_bytes)};
}

Image ResizeHere(const PixelView& image, int height, int width, const std::string&) {
  return ResizeBilinear(image, height, width);
}

InputPreprocess RecipeOf(const Program& program, size_t input, const std::string& name) {
  const auto recorded = program.image().meta.find(kRecordedKey);
  std::map<size_t, InputPreprocess> recipes;
  if (recorded != program.image().meta.end())
    recipes = ReadRecorded(recorded->second, program.where());
  const auto recipe = recipes.find(input);
  RSHIFT_REQUIRE(recipe != recipes.end(), ErrorCode::kUnsupported, "input '", name,
                 "': the program has recorded no preprocessing for it; deploy the model with "
                 "--preprocess, or give values (rshift_session_set_floats)");
  recipe->second.name = name;
  return recipe->second;
}

std::vector<float> ValuesOf(const SharedProgram& shared, size_t input,
                            std::span<const rshift_picture> pictures) {
  const TensorInfo& info = At(shared.inputs, input, "input");
  const InputPreprocess recipe = RecipeOf(shared.program, input, info.name);
  const size_t batch = info.shape.empty() ? 0 : static_cast<size_t>(info.shape[0]);
  RSHIFT_REQUIRE(pictures.size() == batch, ErrorCode::kInvalidInput, "input '", info.name,
                 "': got ", pictures.size(), " pictures, its batch is ", batch);
  Shape one = info.shape;
  one[0] = 1;
  std::vector<float> values;
  for (size_t i = 0; i < pictures.size(); ++i) {
    const std::string where = pictures.size() == 1 ? "picture" : Cat("picture ", i);
    const PixelOrder order = OrderOf(pictures[i].order, where);
    const Image image = ToColor(CheckedView(pictures[i], order, where), order, recipe.color);
    const std::vector<float> of_one = ApplyRecipe(recipe, image, one, where, ResizeHere);
    values.insert(values.end(), of_one.begin(), of_one.end());
  }
  return values;
}

}  // namespace
}  // namespace rshift

using rshift::Guarded;
using rshift::RequirePointer;

extern "C" {

rshift_status rshift_session_set_pictures(rshift_session* session, size_t input,
                                          const rshift_picture* pictures, size_t count) {
  return Guarded([&] {
    RequirePointer(session, "rshift_session_set_pictures", "session");
    RequirePointer(pictures, "rshift_session_set_pictures", "pictures");
    const std::vector<float> values = rshift::ValuesOf(*session->shared, input, {pictures, count});
    const rshift::TensorInfo& info = session->shared->inputs[input];
    // Bytes are the pixels themselves; 16 bits have a scale.
    const bool has_scale = info.record->quantized && rshift::SizeOf(info.record->dtype) == 2;
    const auto store = has_scale ? rshift::StoreFloats : rshift::StoreElements;
    store(*info.record, info.name, values, session->session.Input(static_cast<int>(input)));
  });
}

rshift_status rshift_preprocess(const rshift_program* program, size_t input,
                                const rshift_picture* pictures, size_t count, float* values,
                                size_t room) {
  return Guarded([&] {
    RequirePointer(program, "rshift_preprocess", "program");
    RequirePointer(pictures, "rshift_preprocess", "pictures");
    RequirePointer(values, "rshift_preprocess", "values");
    const std::vector<float> made = rshift::ValuesOf(*program->shared, input, {pictures, count});
    RSHIFT_REQUIRE(made.size() <= room, rshift::ErrorCode::kInvalidInput, "input '",
                   program->shared->inputs[input].name, "': takes ", made.size(),
                   " values, the array has room for ", room);
    std::copy(made.begin(), made.end(), values);
  });
}

}  // extern "C"
