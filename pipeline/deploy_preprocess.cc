#include "pipeline/deploy_preprocess.h"

#include <optional>
#include <vector>

#include "base/error.h"
#include "base/number_text.h"
#include "calibrate/data/preprocess.h"

namespace rshift {
namespace {

template <typename T>
std::string List(const std::vector<T>& values) {
  std::string out;
  for (const T value : values) out += (out.empty() ? "" : ", ") + ShortestText(value);
  return values.size() == 1 ? out : "[" + out + "]";
}

std::string ResizeText(const InputPreprocess& p) {
  std::string out;
  switch (p.resize) {
    case InputPreprocess::ResizeMode::kNone:
      break;
    case InputPreprocess::ResizeMode::kStretch:
      out = Cat(", stretched to ", p.resize_height, "x", p.resize_width);
      break;
    case InputPreprocess::ResizeMode::kShortSide:
      out = Cat(", short side ", p.resize_height);
      break;
    case InputPreprocess::ResizeMode::kLetterbox:
      out = Cat(", letterbox ", p.resize_height, "x", p.resize_width);
      if (p.fill != InputPreprocess().fill) out += " on " + List(p.fill);
      if (p.align != InputPreprocess().align) out += Cat(", ", Name(p.align));
      break;
  }
  if (p.crop_height > 0) out += Cat(", centre crop ", p.crop_height, "x", p.crop_width);
  return out;
}

std::string Describe(const AudioRecipe& audio) {
  std::string out = Cat("sound of ", audio.sample_rate, " Hz");
  if (audio.length > 0) out += Cat(", ", audio.length, " samples, ", Name(audio.align));
  if (audio.level != AudioRecipe::Level::kAsIs) out += Cat(", level ", Name(audio.level));
  if (!audio.frames) return out;
  const AudioFrames& frames = *audio.frames;
  out += Cat(", frames of ", frames.window, " every ", frames.hop, " (", Name(frames.shape),
             frames.symmetric ? " symmetric" : "", ", fft ", frames.fft, ", of ", Name(frames.of),
             ", border ", Name(frames.border), ", power ", frames.power, ")");
  if (const auto& mel = audio.mel) {
    out += Cat(", ", mel->bins, " mel bins ", ShortestText(mel->low), " to ",
               ShortestText(mel->high), " Hz (", Name(mel->scale), ", sides ", Name(mel->sides),
               ", norm ", Name(mel->norm), ")");
  }
  if (const auto& logarithm = audio.logarithm) {
    out += Cat(", ", Name(logarithm->unit), logarithm->adds ? " of +" : " of at least ",
               ShortestText(logarithm->floor));
    if (logarithm->below_peak)
      out += Cat(", ", ShortestText(*logarithm->below_peak), " below the peak");
  }
  if (audio.mfcc) out += Cat(", ", audio.mfcc->count, " MFCC (", Name(audio.mfcc->norm), ")");
  return out + Cat(", ", Name(audio.first), " first");
}

std::string Describe(const InputPreprocess& p) {
  if (p.audio) return Cat(Describe(*p.audio), ", (feature - ", List(p.mean), ") * ", List(p.scale));
  const bool nhwc = p.layout == InputPreprocess::PixelLayout::kNhwc;
  return Cat(Name(p.color), nhwc ? " NHWC" : "", ResizeText(p), ", (pixel - ", List(p.mean), ") * ",
             List(p.scale));
}

std::string Describe(const Preprocess& preprocess) {
  std::string out;
  for (const InputPreprocess& input : preprocess.inputs) {
    if (!out.empty()) out += "; ";
    if (preprocess.inputs.size() > 1) out += "input '" + input.name + "': ";
    out += Describe(input);
  }
  return out;
}

}  // namespace

std::string ChoosePreprocess(const CalibrationTable& table, const std::string& table_path,
                             const PreprocessChoice& choice, const std::vector<InputSpec>& inputs,
                             bool force) {
  if (!choice.given()) return table.preprocess;
  std::optional<Preprocess> recorded;
  if (!table.preprocess.empty()) recorded = ReadPreprocess(table.preprocess, table_path);
  const std::optional<Preprocess> given = choice.Resolve(inputs, recorded);
  if (force || !recorded) return given->text;
  const std::string theirs = Describe(*recorded), ours = Describe(*given);
  const std::string name = choice.source.empty() ? "preprocessing by flags" : choice.source;
  RSHIFT_REQUIRE(ours == theirs, ErrorCode::kInvalidInput, name, ": is not the preprocessing that ",
                 table_path, " was measured with (", ours, "; the table: ", theirs,
                 "): its ranges do not hold; leave it out, calibrate again, or insist with "
                 "--force-preprocess");
  return given->text;
}

std::string DescribePreprocess(const std::string& text) {
  return text.empty() ? "" : Describe(ReadPreprocess(text, "preprocessing"));
}

}  // namespace rshift
