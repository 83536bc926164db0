#include "calibrate/preprocess_variants.h"

#include <algorithm>

#include "base/error.h"

namespace rshift {
namespace {

using Color = InputPreprocess::Color;

struct Scaling {
  const char* name;
  std::vector<float> mean, scale;  // in the order RGB; a single number serves every channel
};

std::vector<Scaling> UsualScalings() {
  return {{"0 to 255", {0}, {1}},
          {"0 to 1", {0}, {1 / 255.0f}},
          {"-1 to 1", {127.5f}, {1 / 127.5f}},
          {"0 to 255 less ImageNet's mean", {123, 117, 104}, {1}},
          {"ImageNet's mean and deviation",
           {123.675f, 116.28f, 103.53f},
           {1 / 58.395f, 1 / 57.12f, 1 / 57.375f}}};
}

InputPreprocess Swapped(InputPreprocess recipe) {
  recipe.color = recipe.color == Color::kRgb ? Color::kBgr : Color::kRgb;
  std::reverse(recipe.mean.begin(), recipe.mean.end());
  std::reverse(recipe.scale.begin(), recipe.scale.end());
  std::reverse(recipe.fill.begin(), recipe.fill.end());
  return recipe;
}

InputPreprocess With(InputPreprocess recipe, const Scaling& scaling) {
  recipe.mean = scaling.mean;
  recipe.scale = scaling.scale;
  const Color color = recipe.color;
  if (color == Color::kGray) {
    recipe.mean.resize(1);
    recipe.scale.resize(1);
  } else if (color == Color::kBgr) {
    std::reverse(recipe.mean.begin(), recipe.mean.end());
    std::reverse(recipe.scale.begin(), recipe.scale.end());
  }
  return recipe;
}

bool Same(const InputPreprocess& a, const InputPreprocess& b) {
  const auto at = [](const std::vector<float>& v, size_t i) { return v.size() == 1 ? v[0] : v[i]; };
  const size_t channels = a.color == Color::kGray ? 1 : 3;
  for (size_t i = 0; i < channels; ++i) {
    if (at(a.mean, i) != at(b.mean, i) || at(a.scale, i) != at(b.scale, i)) return false;
  }
  return a.color == b.color;
}

}  // namespace

std::vector<PreprocessVariant> VariantsOf(const InputPreprocess& given) {
  std::vector<PreprocessVariant> variants;
  const auto offer = [&](const std::string& scaling, const InputPreprocess& recipe) {
    const bool known = std::any_of(variants.begin(), variants.end(),
                                   [&](const auto& other) { return Same(other.recipe, recipe); });
    if (!known) variants.push_back({Cat(Name(recipe.color), ", ", scaling), recipe});
  };
  std::vector<InputPreprocess> orders{given};
  if (given.color != Color::kGray) orders.push_back(Swapped(given));
  for (const InputPreprocess& order : orders) offer("mean and scale as given", order);
  for (const InputPreprocess& order : orders) {
    for (const Scaling& scaling : UsualScalings()) offer(scaling.name, With(order, scaling));
  }
  return variants;
}

}  // namespace rshift
