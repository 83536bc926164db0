// Top-k counting over a labelled data set.
#ifndef RSHIFT_TOOLS_ACCURACY_H_
#define RSHIFT_TOOLS_ACCURACY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rshift {

// "1,5" -> {1, 5}. Throws kInvalidInput.
std::vector<int> ParseTop(const std::string& text);

class Accuracy {
 public:
  explicit Accuracy(std::vector<int> top) : top_(std::move(top)), hits_(top_.size(), 0) {}
  // `scores`: one per class. Ties go to the lower class, as argmax does. A label outside the scores
  // is an error.
  void Add(std::span<const float> scores, int64_t label, const std::string& sample);
  double Percent(size_t i) const {
    return images_ == 0 ? 0 : 100.0 * static_cast<double>(hits_[i]) / images_;
  }
  const std::vector<int>& top() const { return top_; }
  int64_t images() const { return images_; }
  int64_t hits(size_t i) const { return hits_[i]; }

 private:
  std::vector<int> top_;
  std::vector<int64_t> hits_;
  int64_t images_ = 0;
};

}  // namespace rshift

#endif  // RSHIFT_TOOLS_ACCURACY_H_
