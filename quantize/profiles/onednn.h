// The rules of profile onednn, from which openvino's derive. NUMERICS.md section 16.
#ifndef RSHIFT_QUANTIZE_PROFILES_ONEDNN_H_
#define RSHIFT_QUANTIZE_PROFILES_ONEDNN_H_

#include "quantize/profiles/arithmetic.h"

namespace rshift {

class OneDnn : public Arithmetic {
 public:
  bool HasBinary(BinaryOp op) const override { return op == BinaryOp::kAdd; }
  bool HasPostOps() const override { return true; }
  bool InvertsWeightScales() const override { return true; }
  int32_t Constant(float value, const IntType& type) const override;
  LinearForm Linear(const LinearLayer& layer) const override;
  RequantWords Words(const LinearLayer& layer, float scale_w, float bias) const override;
  Op MakeBinary(const BinaryLayer& layer) const override;
  PoolForm MakePool(const PoolLayer& layer) const override;
};

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_PROFILES_ONEDNN_H_
