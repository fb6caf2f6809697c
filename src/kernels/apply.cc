// Optimiser steps on variables, for models that export a training signature. A step reads the variables,
// computes new values and assigns them: readers see the old or the new value of each, never a mixture. Apply*
// take TF1's references, and pass the first on; ResourceApply* take handles.
#include <cmath>

#include "kernels/registry.h"
#include "resource/variable.h"

namespace tare {
namespace {

// The variables a step changes (the first `slots` inputs) and their new values.
class Step {
 public:
  // Reads the variables and makes room for the new values. `grad` is the input that must have their shape;
  // every other input is a scalar.
  static Result<Step> Make(const KernelCall& c, int slots, int grad) {
    Step step(c);
    for (int i = 0; i < slots; ++i) {
      TARE_ASSIGN_OR_RETURN(Ref<Variable> v, GetResource<Variable>(c.input(i)));
      auto old = v->Read();
      if (!old.ok() && c.num_outputs() == 1) return FailedPrecondition("Attempting to use uninitialized value {}", v->name());
      if (!old.ok()) return Internal("Invalid variable reference.");
      const Tensor& g = c.input(grad);
      if (old->dtype() != g.dtype() || !(old->shape() == g.shape())) {
        return InvalidArgument("var and grad do not have the same shape{} {}", old->shape().ToString(),
                               g.shape().ToString());
      }
      TARE_ASSIGN_OR_RETURN(Tensor made, Tensor::Make(c.run().account, g.dtype(), g.shape(), Kind::kWeights));
      step.vars_.push_back({std::move(v), *std::move(old), std::move(made)});
    }
    for (int i = slots; i < c.num_inputs(); ++i) {
      if (i != grad && c.input(i).rank() != 0) {
        return InvalidArgument("input {} is not a scalar: {}", i, c.input(i).shape().ToString());
      }
    }
    return step;
  }
  template <class T>
  const T* was(int slot) const { return vars_[slot].old.data<T>(); }
  template <class T>
  T* now(int slot) { return vars_[slot].made.mutable_data<T>(); }
  template <class T>
  T scalar(int i) const { return c_->input(i).scalar<T>(); }
  int64_t size() const { return vars_[0].old.num_elements(); }
  Status Assign() {
    for (auto& v : vars_) TARE_RETURN_IF_ERROR(v.variable->Assign(std::move(v.made)));
    return OkStatus();
  }

 private:
  explicit Step(const KernelCall& c) : c_(&c) {}
  struct Slot {
    Ref<Variable> variable;
    Tensor old, made;
  };
  const KernelCall* c_;
  std::vector<Slot> vars_;
};

// f(T tag) computes the new values; each operation rounds to T, as TensorFlow's do.
template <class F>
Status RunStep(KernelCall& c, int slots, int grad, F f) {
  TARE_ASSIGN_OR_RETURN(Step step, Step::Make(c, slots, grad));
  TARE_RETURN_IF_ERROR(ForType(Floats{}, c.input(grad).dtype(), [&]<class T>() {
    f.template operator()<T>(step, c.input(grad).data<T>());
    return OkStatus();
  }));
  TARE_RETURN_IF_ERROR(step.Assign());
  if (c.num_outputs() == 1) c.SetOutput(0, c.TakeInput(0));
  return OkStatus();
}

Status GradientDescent(KernelCall& c) {
  return RunStep(c, 1, 2, []<class T>(Step& s, const T* grad) {
    T lr = s.scalar<T>(1);
    for (int64_t i = 0; i < s.size(); ++i) s.now<T>(0)[i] = T(s.was<T>(0)[i] - T(grad[i] * lr));
  });
}

struct Momentum {
  explicit Momentum(AttrReader& a)
      : nesterov(a.Bool("use_nesterov")), keras(a.op().name == "ResourceApplyKerasMomentum") {}
  Status Run(KernelCall& c) const {
    return RunStep(c, 2, 3, [this]<class T>(Step& s, const T* grad) {
      T lr = s.scalar<T>(2), momentum = s.scalar<T>(4);
      for (int64_t i = 0; i < s.size(); ++i) {
        T var = s.was<T>(0)[i], kept = T(s.was<T>(1)[i] * momentum), step = T(grad[i] * lr);
        T accum = keras ? T(kept - step) : T(kept + grad[i]);
        s.now<T>(1)[i] = accum;
        if (keras) {
          s.now<T>(0)[i] = nesterov ? T(var + T(T(accum * momentum) - step)) : T(var + accum);
        } else {
          s.now<T>(0)[i] = T(var - (nesterov ? T(step + T(T(accum * momentum) * lr)) : T(accum * lr)));
        }
      }
    });
  }
  bool nesterov, keras;
};

struct Adam {
  explicit Adam(AttrReader& a) : nesterov(a.Bool("use_nesterov")) {}
  Status Run(KernelCall& c) const {
    return RunStep(c, 3, 9, [this]<class T>(Step& s, const T* grad) {
      auto root = [](T x) {
        if constexpr (std::is_same_v<T, double>) return std::sqrt(x);
        else return T(std::sqrt(static_cast<float>(x)));
      };
      const T one(1), beta1_power = s.scalar<T>(3), beta2_power = s.scalar<T>(4), lr = s.scalar<T>(5);
      const T beta1 = s.scalar<T>(6), beta2 = s.scalar<T>(7), epsilon = s.scalar<T>(8);
      const T alpha = T(T(lr * root(T(one - beta2_power))) / T(one - beta1_power));
      const T rest1 = T(one - beta1), rest2 = T(one - beta2);
      for (int64_t i = 0; i < s.size(); ++i) {
        T g = grad[i], m = s.was<T>(1)[i], v = s.was<T>(2)[i];
        m = T(m + T(T(g - m) * rest1));
        v = T(v + T(T(T(g * g) - v) * rest2));
        T top = nesterov ? T(T(T(g * rest1) + T(beta1 * m)) * alpha) : T(m * alpha);
        s.now<T>(0)[i] = T(s.was<T>(0)[i] - T(top / T(root(v) + epsilon)));
        s.now<T>(1)[i] = m;
        s.now<T>(2)[i] = v;
      }
    });
  }
  bool nesterov;
};

constexpr KernelRow kRows[] = {
    Op<Adam>("ApplyAdam", kStateful),
    Op<GradientDescent>("ApplyGradientDescent", kStateful),
    Op<Momentum>("ApplyMomentum", kStateful),
    Op<Adam>("ResourceApplyAdam", kStateful),
    Op<GradientDescent>("ResourceApplyGradientDescent", kStateful),
    Op<Momentum>("ResourceApplyKerasMomentum", kStateful),
    Op<Momentum>("ResourceApplyMomentum", kStateful),
};

}  // namespace
extern constinit const KernelFamily kApplyKernels = kRows;
}  // namespace tare
