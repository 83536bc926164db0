// Sets of numbers that are joined again and again (Galler and Fischer's forest).
#ifndef RSHIFT_BASE_UNION_FIND_H_
#define RSHIFT_BASE_UNION_FIND_H_

#include <cstddef>
#include <vector>

namespace rshift {

class UnionFind {
 public:
  explicit UnionFind(size_t count = 0) { Add(count); }

  // `count` more numbers, each a set of its own; returns the first of them.
  size_t Add(size_t count) {
    const size_t first = parent_.size();
    for (size_t i = 0; i < count; ++i) parent_.push_back(first + i);
    return first;
  }
  size_t size() const { return parent_.size(); }

  // The representative of x's set. Without const it shortens the way for the next one.
  size_t Find(size_t x) const {
    while (parent_[x] != x) x = parent_[x];
    return x;
  }
  size_t Find(size_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }

  // The sets of both become one, whose representative is that of `leader`'s.
  void Join(size_t leader, size_t follower) { parent_[Find(follower)] = Find(leader); }

 private:
  std::vector<size_t> parent_;
};

}  // namespace rshift

#endif  // RSHIFT_BASE_UNION_FIND_H_
