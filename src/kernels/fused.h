// What graph passes ask a product's kernel to do to its result before it is stored, so that the operations after a
// convolution or MatMul cost no pass over memory of their own.
//
// A pass says so by attributes that no file can do harm with: operands are checked at every run. In this order:
//   _scale, _bias (bool)     a vector of one value a channel, an input each, after the op's own
//   _add (bool)              a tensor that is added, the next input: the residual of a block
//   _lowest, _highest (float), _activation (int, a math::Activation)
#pragma once
#include "kernels/kernel.h"
#include "math/gemm.h"

namespace tare {

class FusedEpilogue {
 public:
  // The attributes as they stand; none of them: nothing is fused.
  explicit FusedEpilogue(AttrReader& attrs);

  // Makes output 0, float of `shape`, by run(out, epilogue), whose columns are the last dimension. Inputs of the
  // epilogue begin at `first`. A sum with a tensor of another shape is broadcast, as AddV2 would.
  // InvalidArgument for missing inputs, or such that are not float or do not fit.
  template <class F>
  Status Produce(KernelCall& c, int first, const Shape& shape, F run) const {
    math::Epilogue e;
    if (!any_) {
      TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kFloat, shape));
      return run(*out, e);
    }
    TARE_RETURN_IF_ERROR(BindVectors(c, first, shape, e));
    const int add = first + scale_ + bias_;
    if (add_ && c.input(add).shape() != shape) {
      TARE_ASSIGN_OR_RETURN(Tensor product, c.Temp(DType::kFloat, shape));
      TARE_RETURN_IF_ERROR(run(product, e));
      return AddApart(c, std::move(product), add);
    }
    e.lowest = lowest_, e.highest = highest_, e.activation = activation_;
    if (!add_) {
      TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kFloat, shape));
      return run(*out, e);
    }
    e.add = c.input(add).data<float>();
    e.add_stride = shape[shape.rank() - 1];
    TARE_ASSIGN_OR_RETURN(Tensor * out, scale_ ? c.Output(0, DType::kFloat, shape)
                                               : c.OutputOver(0, {add}, DType::kFloat, shape));
    return run(*out, e);
  }
  bool any() const { return any_; }

 private:
  Status BindVectors(const KernelCall& c, int first, const Shape& shape, math::Epilogue& e) const;
  Status AddApart(KernelCall& c, Tensor product, int add) const;

  bool any_ = false, scale_ = false, bias_ = false, add_ = false;
  float lowest_ = -std::numeric_limits<float>::infinity(), highest_ = std::numeric_limits<float>::infinity();
  math::Activation activation_ = math::Activation::kNone;
};

// The epilogue of rows of `columns` floats, in place and a value at a time: for what no product made.
void ApplyEpilogue(const math::Epilogue& e, float* data, int64_t rows, int64_t columns);

}  // namespace tare
