// Threshold methods: statistics -> where to clip, for both modes. Milliseconds each, from the
// histogram alone.
#ifndef RSHIFT_CALIBRATE_THRESHOLD_H_
#define RSHIFT_CALIBRATE_THRESHOLD_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/statistics.h"
#include "graph/op.h"
#include "quantize/ranges/table.h"

namespace rshift {

enum class Method {
#define RSHIFT_METHOD(name, text, criterion) k##name,
#include "calibrate/methods.def"
};
inline constexpr std::string_view kMethodChoices =  // "minmax | percentile | ..."
    std::string_view(
#define RSHIFT_METHOD(name, text, criterion) " | " text
#include "calibrate/methods.def"
        )
        .substr(3);
// By our name, or as other tools call it: entropy, kld, max. Throws kInvalidInput naming the
// methods there are.
Method ParseMethod(const std::string& name);
std::vector<Method> AllMethods();  // in the order of methods.def

struct MethodOptions {
  Method method = Method::kKl;
  double percentile = 99.99;  // (50, 100]
  // Of omse: the functions that read the tensor, and nothing else does (ReaderFunctions). Without
  // any, omse is mse.
  std::vector<Unary> readers = {};
};

// "kl": as users type it.
std::string_view Name(Method method);
// The reason for a range that it has narrowed, in a few words.
std::string_view CriterionOf(Method method);
// "kl", "percentile 99.99": as tables name it.
std::string MethodName(const MethodOptions& options);
// The method of such a name; nothing for a table whose ranges come from elsewhere.
std::optional<Method> MethodOfTable(std::string_view name);

// threshold: symmetric (255 levels when min >= 0, else the signed range); low/high: the asymmetric
// pair, found two-sided. Constant-zero tensors give zeros.
TensorRange DeriveRange(const TensorStatistics& statistics, const MethodOptions& options);
// One for each of `methods`, which share the work.
std::vector<TensorRange> DeriveRanges(const TensorStatistics& statistics,
                                      std::span<const MethodOptions> methods);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_THRESHOLD_H_
