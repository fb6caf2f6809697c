// Checks of values, and small vector mathematics.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/registry.h"
#include "math/arith.h"

namespace tare {
namespace {

// Passes a tensor on if all of it is finite.
template <bool kTellSigns>
struct CheckNumerics {
  explicit CheckNumerics(AttrReader& a) : message(a.String("message")) {}

  Status Run(KernelCall& c) const {
    bool nan = false, positive = false, negative = false;
    TARE_RETURN_IF_ERROR(ForType(Floats{}, c.input(0).dtype(), [&]<class T>() {
      for (T v : c.input(0).as<T>()) {
        double d = v;
        nan |= d != d;
        positive |= d == std::numeric_limits<double>::infinity();
        negative |= d == -std::numeric_limits<double>::infinity();
      }
      return OkStatus();
    }));
    std::vector<std::string_view> found;
    if (kTellSigns) {
      if (negative) found.push_back("-Inf");
      if (positive) found.push_back("+Inf");
    } else if (negative || positive) {
      found.push_back("Inf");
    }
    if (nan) found.push_back("NaN");
    if (found.empty()) {
      c.SetOutput(0, c.TakeInput(0));
      return OkStatus();
    }
    return InvalidArgument("{} : Tensor had {} values", message, Listed(found));
  }

  static std::string Listed(std::span<const std::string_view> names) {
    std::string s(names[0]);
    if (names.size() == 3) s.append(", ").append(names[1]).append(", and ").append(names[2]);
    if (names.size() == 2) s.append(" and ").append(names[1]);
    return s;
  }
  std::string message;
};

Status Cross(KernelCall& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  if (a.shape() != b.shape()) {
    return InvalidArgument("Both inputs must be of same shape: {} vs. {}", a.shape().ToString(),
                           b.shape().ToString());
  }
  if (a.rank() == 0) return InvalidArgument("Input must be at least 1D{}", a.shape().ToString());
  if (a.dim(a.rank() - 1) != 3) {
    return FailedPrecondition("Cross-products are only defined for 3-element vectors.");
  }
  return ForType(Reals{}, a.dtype(), [&]<class T>() -> Status {
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, a.dtype(), a.shape()));
    T* to = out->mutable_data<T>();
    auto minor = [](T p, T q, T r, T s) { return T(math::Sub<T>(T(math::Mul<T>(p, q)), T(math::Mul<T>(r, s)))); };
    for (int64_t i = 0; i < a.num_elements(); i += 3) {
      const T *u = a.data<T>() + i, *v = b.data<T>() + i;
      to[i] = minor(u[1], v[2], u[2], v[1]);
      to[i + 1] = minor(u[2], v[0], u[0], v[2]);
      to[i + 2] = minor(u[0], v[1], u[1], v[0]);
    }
    return OkStatus();
  });
}

Status InvertPermutation(KernelCall& c) {
  const Tensor& x = c.input(0);
  if (x.rank() != 1) return InvalidArgument("invert_permutation expects a 1D vector.");
  return ForType(Indexes{}, x.dtype(), [&]<class T>() -> Status {
    TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, x.dtype(), x.shape()));
    auto from = x.as<T>();
    auto to = out->mut<T>();
    std::ranges::fill(to, T(-1));
    for (size_t i = 0; i < from.size(); ++i) {
      T d = from[i];
      if (d < 0 || static_cast<size_t>(d) >= from.size()) {
        return InvalidArgument("{} is not between 0 and {}", d, from.size());
      }
      if (to[d] != T(-1)) return InvalidArgument("{} is duplicated in the input.", d);
      to[d] = static_cast<T>(i);
    }
    return OkStatus();
  });
}

constexpr KernelRow kRows[] = {
    Op<CheckNumerics<false>>("CheckNumerics", kStateful),
    Op<CheckNumerics<true>>("CheckNumericsV2", kStateful),
    Op<Cross>("Cross"),
    Op<InvertPermutation>("InvertPermutation"),
};

}  // namespace
extern constinit const KernelFamily kNumericKernels = kRows;
}  // namespace tare
