#include "quantize/ascend_config.h"

#include <cctype>
#include <charconv>

#include "base/error.h"

namespace rshift {
namespace {

constexpr int kLeastOffset = -128, kMostOffset = 127;

float ReadPositive(const YamlPart& part, const std::string& what) {
  const float value = ReadFloat(part, what);
  if (!(value > 0)) FailAt(part, what, " is ", value, ", expected a number > 0");
  return value;
}

std::vector<float> ReadScales(const YamlPart& part, const std::string& what) {
  if (!part.node.IsSequence()) return {ReadPositive(part, what)};
  std::vector<float> scales;
  for (const auto& item : part.node) scales.push_back(ReadPositive({item, part.where}, what));
  if (scales.empty()) FailAt(part, what, " is an empty list; give one number, or one a channel");
  return scales;
}

int ReadOffset(const YamlPart& part, const std::string& what) {
  const float value = ReadFloat(part, what);
  const int whole = value >= kLeastOffset && value <= kMostOffset ? static_cast<int>(value) : 0;
  if (static_cast<float>(whole) != value) {
    FailAt(part, what, " is ", value,
           ", expected a whole number of -128 to 127: the convolution's bias folds it");
  }
  return whole;
}

RealRounding ReadRoundMode(const YamlPart& part, const std::string& what) {
  const std::string mode = ReadString(part, what);
  if (mode == "Round") return RealRounding::kEven;
  if (mode == "Away") return RealRounding::kAway;
  if (mode == "Floor") return RealRounding::kFloor;
  if (mode == "Ceiling") return RealRounding::kCeil;
  if (mode == "Truncate") return RealRounding::kTruncate;
  FailAt(part, what, " is '", mode,
         "', expected Round, Floor, Ceiling, Truncate, or Away (Round with ties away from zero)");
}

// One of two words.
bool ReadChoice(const YamlPart& part, const std::string& what, const char* no, const char* yes) {
  const std::string word = ReadString(part, what);
  if (word == yes) return true;
  if (word == no) return false;
  FailAt(part, what, " is '", word, "', expected ", no, " or ", yes);
}

}  // namespace

AscendConfig ReadAscendConfig(const YamlPart& part, const std::string& what) {
  CheckKeys(part, what,
            {"scale_d", "scale", "offset_d", "scale_w", "round_mode", "sqrt_mode", "scale_type",
             "deq_sqrt_mode", "deq_scale_type", "relu_flag", "bias"});
  AscendConfig config;
  const auto label = [&](const char* key) { return what + ": " + key; };
  const auto read = [&](const char* key, auto&& reader, auto* value) {
    if (HasKey(part, key)) *value = reader(Child(part, key, what), label(key));
  };
  read("scale_d", ReadPositive, &config.scale_d);
  read("scale", ReadPositive, &config.scale);
  read("offset_d", ReadOffset, &config.offset_d);
  read("scale_w", ReadScales, &config.scale_w);
  read("round_mode", ReadRoundMode, &config.round_mode);
  for (const auto& [key, value] : {std::pair{"sqrt_mode", &config.sqrt_mode},
                                   {"deq_sqrt_mode", &config.deq_sqrt_mode},
                                   {"relu_flag", &config.relu_flag}}) {
    read(key, ReadBool, value);
  }
  const auto choice = [&](const char* key, const char* no, const char* yes, auto* value) {
    if (HasKey(part, key)) *value = ReadChoice(Child(part, key, what), label(key), no, yes);
  };
  choice("scale_type", "float32", "float16", &config.half_scale);
  choice("deq_scale_type", "uint64", "float16", &config.half_deq_scale);
  choice("bias", "float16", "int32", &config.int32_bias);
  if (config.empty()) FailAt(part, what, " has no setting; leave it out");
  if (config.scale && config.scale_d) {
    FailAt(part, what, ": scale is 1 / scale_d; give one of them");
  }
  if (config.offset_d && !config.GivesScale()) {
    FailAt(part, what, ": offset_d without scale_d; give both");
  }
  return config;
}

void CompleteAscend(AscendConfig* config, const AscendConfig& other) {
  const auto complete = [](auto* value, const auto& given) {
    if (!*value) *value = given;
  };
  if (!config->GivesScale()) {
    config->scale_d = other.scale_d;
    config->scale = other.scale;
    config->offset_d = other.offset_d;
  }
  if (config->scale_w.empty()) config->scale_w = other.scale_w;
  complete(&config->round_mode, other.round_mode);
  complete(&config->sqrt_mode, other.sqrt_mode);
  complete(&config->half_scale, other.half_scale);
  complete(&config->deq_sqrt_mode, other.deq_sqrt_mode);
  complete(&config->half_deq_scale, other.half_deq_scale);
  complete(&config->relu_flag, other.relu_flag);
  complete(&config->int32_bias, other.int32_bias);
}

namespace {

// Words of the text, `{`, `}` and quoted strings, each with its line; `name:` is a word.
class RecordReader {
 public:
  RecordReader(const std::string& text, const std::string& where) : text_(text), where_(where) {
    Next();
  }

  std::map<std::string, AscendRecord> Read() {
    std::map<std::string, AscendRecord> records;
    while (!word_.empty()) {
      AscendRecord record;
      record.line = line_;
      Expect("record");
      Expect("{");
      const std::string key = Field("key:");
      Expect("value");
      Expect("{");
      while (word_ != "}") ReadNumber(&record.config);
      Expect("}");
      Expect("}");
      if (!record.config.scale_d) Bad(Cat("record '", key, "' has no scale_d"));
      if (!records.emplace(key, record).second) Bad(Cat("a second record '", key, "'"));
    }
    if (records.empty()) Fail(ErrorCode::kInvalidInput, where_, ": there is no record in it");
    return records;
  }

 private:
  [[noreturn]] void Bad(const std::string& what) const {
    Fail(ErrorCode::kInvalidInput, where_, ":", line_, ": ", what);
  }

  void Expect(const char* word) {
    if (word_ != word) Bad(Cat("'", word_, "', expected '", word, "'"));
    Next();
  }

  std::string Field(const char* name) {
    Expect(name);
    std::string value = word_;
    Next();
    return value;
  }

  void ReadNumber(AscendConfig* config) {
    const std::string name = word_;
    if (name.empty()) Bad("the file ends inside a record");
    Next();
    float value = 0;
    if (!ParseFloat(word_, &value)) Bad(Cat(name, " '", word_, "', expected a finite number"));
    if (name == "scale_d:" || name == "scale_w:") {
      if (!(value > 0)) Bad(Cat(name, " ", value, ", expected a number > 0"));
      if (name == "scale_w:") {
        config->scale_w.push_back(value);
      } else {
        config->scale_d = value;
      }
    } else if (name == "offset_d:") {
      const auto whole = static_cast<int>(value);
      if (value < kLeastOffset || value > kMostOffset || static_cast<float>(whole) != value) {
        Bad(Cat("offset_d ", value, ", expected a whole number of -128 to 127"));
      }
      config->offset_d = whole;
    } else if (name == "offset_w:") {
      if (value != 0) Bad(Cat("offset_w ", value, ", expected 0: weights are symmetric"));
    } else {
      Bad(Cat("unknown '", name, "', expected scale_d:, offset_d:, scale_w: or offset_w:"));
    }
    Next();
  }

  void Next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      line_ += text_[at_] == '\n' ? 1 : 0;
      ++at_;
    }
    word_.clear();
    if (at_ == text_.size()) return;
    const char first = text_[at_];
    if (first == '"') {
      const size_t end = text_.find('"', at_ + 1);
      if (end == std::string::npos) Bad("a name without its closing quote");
      word_ = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return;
    }
    do {
      word_ += text_[at_++];
    } while (first != '{' && first != '}' && at_ < text_.size() && word_.back() != ':' &&
             std::isspace(static_cast<unsigned char>(text_[at_])) == 0 && text_[at_] != '{' &&
             text_[at_] != '}');
  }

  const std::string& text_;
  const std::string& where_;
  size_t at_ = 0;
  int line_ = 1;
  std::string word_;
};

}  // namespace

std::map<std::string, AscendRecord> ReadAscendRecords(const std::string& text,
                                                      const std::string& where) {
  return RecordReader(text, where).Read();
}

}  // namespace rshift
