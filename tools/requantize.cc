// model_tool requantize: accumulators in, integers out, one a line, in constant memory.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "tools/process.h"
#include "tools/requantize_rule.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

constexpr size_t kBuffer = size_t{1} << 16;
constexpr size_t kLongestLine = 64;  // an int32 with generous blanks

// Lines of the standard input, read in blocks.
class LineReader {
 public:
  // False at the end. `line` stays valid until the next call; without line feed.
  bool Next(std::string_view* line) {
    ++number_;
    size_t at = begin_;
    while (true) {
      const void* feed = std::memchr(buffer_ + at, '\n', end_ - at);
      if (feed != nullptr) {
        const size_t length = static_cast<const char*>(feed) - (buffer_ + begin_);
        *line = {buffer_ + begin_, length};
        begin_ += length + 1;
        return true;
      }
      RSHIFT_REQUIRE(end_ - begin_ <= kLongestLine, ErrorCode::kInvalidInput, "line ", number_,
                     ": longer than ", kLongestLine, " characters, expected one integer");
      if (!Refill()) break;
      at = begin_;
    }
    *line = {buffer_ + begin_, end_ - begin_};
    begin_ = end_;
    return !line->empty();
  }
  int64_t number() const { return number_; }

 private:
  bool Refill() {
    std::memmove(buffer_, buffer_ + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const size_t got = std::fread(buffer_ + end_, 1, kBuffer - end_, stdin);
    RSHIFT_REQUIRE(got > 0 || std::ferror(stdin) == 0, ErrorCode::kIo,
                   "cannot read the standard input");
    end_ += got;
    return got > 0;
  }

  char buffer_[kBuffer];
  size_t begin_ = 0, end_ = 0;
  int64_t number_ = 0;
};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

int32_t ParseAccumulator(std::string_view line, int64_t number) {
  std::string_view text = line;
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  RSHIFT_REQUIRE(error != std::errc::result_out_of_range, ErrorCode::kInvalidInput, "line ", number,
                 ": ", text, " is no int32, expected -2147483648..2147483647");
  RSHIFT_REQUIRE(error == std::errc() && end == text.data() + text.size(), ErrorCode::kInvalidInput,
                 "line ", number, ": '", text, "', expected one integer");
  return value;
}

// Collects text and writes it in blocks.
class Writer {
 public:
  ~Writer() { Flush(); }
  void Add(std::string_view text) {
    if (size_ + text.size() > kBuffer) Flush();
    if (std::ferror(stdout) != 0) FinishStandardOutput();  // nobody reads: do not read on
    std::memcpy(buffer_ + size_, text.data(), text.size());
    size_ += text.size();
  }
  void Add(int32_t value) {
    char text[16];
    const auto done = std::to_chars(text, text + sizeof(text), value);
    Add(std::string_view(text, done.ptr - text));
  }
  void Flush() {
    std::fwrite(buffer_, 1, size_, stdout);  // ToolMain looks at ferror(stdout)
    size_ = 0;
  }

 private:
  char buffer_[kBuffer];
  size_t size_ = 0;
};

}  // namespace

int RequantizeCommand(const RequantizeArguments& arguments, bool show, bool json) {
  const RequantizeRule rule = MakeRequantizeRule(arguments);
  if (show) std::fprintf(stderr, "%s\n", rule.Describe().c_str());
  LineReader reader;
  Writer writer;
  std::string_view line;
  if (json) {
    nlohmann::ordered_json head = {{"profile", arguments.profile},
                                   {"variant", arguments.variant},
                                   {"type", arguments.type},
                                   {"zero_point", arguments.zero_point},
                                   {"arithmetic", rule.Describe()}};
    std::string text = head.dump();
    text.pop_back();
    writer.Add(text + ",\"values\":[");
  }
  for (bool first = true; reader.Next(&line); first = false) {
    const int32_t y = rule.Apply(ParseAccumulator(line, reader.number()));
    if (json && !first) writer.Add(",");
    writer.Add(y);
    if (!json) writer.Add("\n");
  }
  if (json) writer.Add("]}\n");
  return 0;
}

}  // namespace rshift
