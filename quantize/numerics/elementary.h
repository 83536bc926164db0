// exp, expm1, tanh and the logistic function of base/portable_math.h, for values that decide an
// integer at run time (post-operations) or a table's entry. NUMERICS.md section 10.
#ifndef RSHIFT_QUANTIZE_NUMERICS_ELEMENTARY_H_
#define RSHIFT_QUANTIZE_NUMERICS_ELEMENTARY_H_

#include "base/portable_math.h"

namespace rshift::numerics {

using portable::Exp;
using portable::Expm1;
using portable::Logistic;
using portable::Tanh;

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_ELEMENTARY_H_
