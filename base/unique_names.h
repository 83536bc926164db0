// Names that are given out once: "x", then "x_1", "x_2" ...
#ifndef RSHIFT_BASE_UNIQUE_NAMES_H_
#define RSHIFT_BASE_UNIQUE_NAMES_H_

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace rshift {

class UniqueNames {
 public:
  // Between base and number; the first number.
  explicit UniqueNames(std::string separator = "_", int first = 1)
      : separator_(std::move(separator)), first_(first) {}

  // Takes exactly this name; false when it is taken already.
  bool Reserve(const std::string& name) { return taken_.insert(name).second; }
  bool IsTaken(const std::string& name) const { return taken_.contains(name); }
  // Takes `base`, or `base` with the least number that makes it unique. Ten thousand names of one
  // base take no longer than ten thousand others.
  std::string Take(const std::string& base) {
    if (Reserve(base)) return base;
    int& number = next_.try_emplace(base, first_).first->second;
    for (;; ++number) {
      std::string name = base + separator_ + std::to_string(number);
      if (Reserve(name)) return name;
    }
  }

 private:
  std::string separator_;
  int first_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // by base: lower numbers are taken
};

}  // namespace rshift

#endif  // RSHIFT_BASE_UNIQUE_NAMES_H_
