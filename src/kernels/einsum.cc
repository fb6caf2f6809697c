// Einsum: any equation of one or two operands becomes diagonals, sums, one batch of matrix products and a
// reordering. Labels are small numbers: characters, then the dimensions of an ellipsis counted from the last.
#include <algorithm>
#include <cstring>

#include "kernels/batch_matmul.h"
#include "kernels/float_math.h"
#include "kernels/registry.h"

namespace tare {
namespace {

constexpr int kCharacters = 128;
using Labels = std::vector<int>;

// A subscript as written: labels, and where the ellipsis stands.
struct Subscript {
  std::string before, after;
  bool ellipsis = false;

  // With the ellipsis standing for `hidden` dimensions.
  Labels Expand(int hidden) const {
    Labels labels(before.begin(), before.end());
    for (int i = hidden - 1; i >= 0; --i) labels.push_back(kCharacters + i);
    labels.insert(labels.end(), after.begin(), after.end());
    return labels;
  }
};

Result<Subscript> ParseSubscript(std::string_view text) {
  Subscript s;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 3) == "...") {
      if (s.ellipsis) return InvalidArgument("Only one ellipsis is allowed in a subscript: {}", text);
      s.ellipsis = true;
      i += 2;
    } else if (text[i] == '.' || (text[i] & 0x80)) {
      return InvalidArgument("Invalid character in the subscript {}", text);
    } else if (text[i] != ' ') {
      (s.ellipsis ? s.after : s.before) += text[i];
    }
  }
  if (s.before.size() + s.after.size() > kMaxRank) return InvalidArgument("too many labels: {}", text);
  return s;
}

// A tensor as labelled dimensions over strided elements.
struct Operand {
  Tensor tensor;
  Labels labels;
  std::vector<int64_t> sizes, strides;

  int Find(int label) const {
    auto it = std::ranges::find(labels, label);
    return it == labels.end() ? -1 : static_cast<int>(it - labels.begin());
  }
  bool Has(int label) const { return Find(label) >= 0; }
  int64_t Size(int label) const { return sizes[static_cast<size_t>(Find(label))]; }
  int64_t Stride(int label) const { return strides[static_cast<size_t>(Find(label))]; }
  void Drop(int label) {
    const auto i = Find(label);
    labels.erase(labels.begin() + i);
    sizes.erase(sizes.begin() + i);
    strides.erase(strides.begin() + i);
  }
};

bool Contains(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

// Walks `sizes` calling f(from offset, to offset) for each element.
template <class F>
void Walk(std::span<const int64_t> sizes, std::span<const int64_t> from, std::span<const int64_t> to, F&& f) {
  const size_t rank = sizes.size();
  if (std::ranges::find(sizes, 0) != sizes.end()) return;
  if (rank == 0) return f(0, 0);
  std::vector<int64_t> at(rank, 0);
  int64_t a = 0, b = 0;
  for (;;) {
    for (int64_t i = 0; i < sizes[rank - 1]; ++i) f(a + i * from[rank - 1], b + i * to[rank - 1]);
    size_t d = rank - 1;
    while (d > 0) {
      --d;
      a += from[d], b += to[d];
      if (++at[d] < sizes[d]) break;
      a -= sizes[d] * from[d], b -= sizes[d] * to[d];
      at[d] = 0;
      if (d == 0) return;
    }
    if (rank == 1) return;
  }
}

using Elements = Join<Types<float, double>, Join<Integers, Complexes>>;

// A copy whose dimensions are `order`, contiguous; labels of the operand that are not in it are summed away.
Status Arrange(KernelCall& c, Operand& x, const Labels& order) {
  Operand to;
  to.labels = order;
  std::vector<int64_t> sizes, from, target;
  for (int label : order) to.sizes.push_back(x.Size(label));
  to.strides.resize(order.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0; step *= to.sizes[i]) to.strides[i] = step;
  // The target's dimensions run outside those summed away.
  for (int pass = 0; pass < 2; ++pass) {
    for (int label : pass ? x.labels : order) {
      if (pass && Contains(order, label)) continue;
      const auto i = static_cast<size_t>(x.Find(label));
      sizes.push_back(x.sizes[i]);
      from.push_back(x.strides[i]);
      target.push_back(pass ? 0 : to.strides[static_cast<size_t>(to.Find(label))]);
    }
  }
  TARE_ASSIGN_OR_RETURN(Shape flat, Shape::Make(std::array{step}));
  TARE_ASSIGN_OR_RETURN(to.tensor, c.Temp(x.tensor.dtype(), flat));
  const bool sums = sizes.size() > order.size();
  TARE_RETURN_IF_ERROR(ForType(Elements{}, x.tensor.dtype(), [&]<class T>() {
    const T* in = x.tensor.data<T>();
    T* out = to.tensor.mutable_data<T>();
    if (sums) {
      std::fill_n(out, step, T{});
      Walk(sizes, from, target, [&](int64_t a, int64_t b) {
        if constexpr (std::is_integral_v<T>) out[b] = static_cast<T>(static_cast<uint64_t>(out[b]) + static_cast<uint64_t>(in[a]));
        else out[b] += in[a];
      });
    } else {
      Walk(sizes, from, target, [&](int64_t a, int64_t b) { out[b] = in[a]; });
    }
    return OkStatus();
  }));
  x = std::move(to);
  return OkStatus();
}

bool IsDense(const Operand& x, const Labels& order) {
  if (x.labels != order) return false;
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0; step *= x.sizes[i]) {
    if (x.sizes[i] != 1 && x.strides[i] != step) return false;
  }
  return true;
}

Labels Joined(const Labels& a, const Labels& b, const Labels& c) {
  Labels all(a);
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

int64_t Product(const Operand& x, const Labels& labels) {
  int64_t n = 1;
  for (int label : labels) n *= x.Size(label);
  return n;
}

struct Einsum {
  explicit Einsum(AttrReader& a) { a.Fail(Parse(a.String("equation"))); }

  Status Parse(const std::string& equation) {
    const size_t arrow = equation.find("->");
    if (arrow == std::string::npos || equation.find("->", arrow + 2) != std::string::npos) {
      return InvalidArgument("Expecting exactly one '->' in einsum equation: {}", equation);
    }
    std::string_view left(equation.data(), arrow), right = std::string_view(equation).substr(arrow + 2);
    for (;;) {
      const size_t comma = left.find(',');
      TARE_ASSIGN_OR_RETURN(Subscript s, ParseSubscript(left.substr(0, comma)));
      inputs.push_back(std::move(s));
      if (comma == std::string_view::npos) break;
      left.remove_prefix(comma + 1);
    }
    if (inputs.size() > 2) return InvalidArgument("Expecting 1 or 2 input operands but got: {}", inputs.size());
    TARE_ASSIGN_OR_RETURN(output, ParseSubscript(right));
    for (char label : output.before + output.after) {
      bool found = false;
      for (const Subscript& s : inputs) found = found || (s.before + s.after).find(label) != std::string::npos;
      if (!found) return InvalidArgument("Label '{}' of the output is in no input: {}", label, equation);
    }
    return OkStatus();
  }

  // The tensor under its subscript, repeated labels taken as diagonals.
  static Result<Operand> Label(const Tensor& t, const Subscript& s, int index, int* hidden) {
    const int named = static_cast<int>(s.before.size() + s.after.size());
    if (s.ellipsis ? t.rank() < named : t.rank() != named) {
      return InvalidArgument("Expected input {} to have rank {}{} but got: {}", index, s.ellipsis ? "at least " : "",
                             named, t.rank());
    }
    *hidden = std::max(*hidden, t.rank() - named);
    const Labels labels = s.Expand(t.rank() - named);
    Operand x;
    x.tensor = t;
    int64_t step = t.num_elements();
    for (int i = 0; i < t.rank(); ++i) {
      const auto at = static_cast<size_t>(i);
      step = t.num_elements() == 0 ? 0 : step / t.dim(i);
      if (int seen = x.Find(labels[at]); seen >= 0) {
        if (x.sizes[static_cast<size_t>(seen)] != t.dim(i)) {
          return InvalidArgument("Expected dimension {} at axis {} of the input shaped {} but got dimension {}",
                                 x.sizes[static_cast<size_t>(seen)], i, t.shape().ToString(), t.dim(i));
        }
        x.strides[static_cast<size_t>(seen)] += step;
        continue;
      }
      x.labels.push_back(labels[at]);
      x.sizes.push_back(t.dim(i));
      x.strides.push_back(step);
    }
    return x;
  }

  Status Run(KernelCall& c) const {
    if (c.num_inputs() != static_cast<int>(inputs.size())) {
      return InvalidArgument("Expected {} inputs but got: {}", inputs.size(), c.num_inputs());
    }
    int hidden = 0;
    std::vector<Operand> x;
    const DType dtype = c.input(0).dtype();
    for (int i = 0; i < c.num_inputs(); ++i) {
      Tensor t = c.input(i);
      if (IsNarrowFloat(dtype)) {
        TARE_ASSIGN_OR_RETURN(t, ToFloat(c, t));
      }
      TARE_ASSIGN_OR_RETURN(Operand operand, Label(t, inputs[static_cast<size_t>(i)], i, &hidden));
      x.push_back(std::move(operand));
    }
    const Labels out = output.Expand(output.ellipsis ? hidden : 0);
    if (out.size() > kMaxRank) return InvalidArgument("Einsum's output has too many dimensions");
    if (x.size() == 2) TARE_RETURN_IF_ERROR(Multiply(c, x, out));
    return Finish(c, x[0], out, dtype);
  }

  // Leaves the product of both in x[0].
  static Status Multiply(KernelCall& c, std::vector<Operand>& x, const Labels& out) {
    TARE_RETURN_IF_ERROR(Match(x));
    // The output's last dimension should be one of the product's columns.
    if (!out.empty() && x[0].Has(out.back()) && !x[1].Has(out.back())) std::swap(x[0], x[1]);
    Labels batch, inner, free[2];
    for (size_t side = 0; side < 2; ++side) {
      Labels kept;
      for (int label : x[side].labels) {
        const bool in_out = Contains(out, label);
        if (x[1 - side].Has(label)) {
          if (side == 0) (in_out ? batch : inner).push_back(label);
        } else if (in_out) {
          free[side].push_back(label);
        } else {
          continue;
        }
        kept.push_back(label);
      }
      if (kept.size() != x[side].labels.size()) TARE_RETURN_IF_ERROR(Arrange(c, x[side], kept));
    }
    BatchProduct p;
    p.m = Product(x[0], free[0]), p.n = Product(x[1], free[1]), p.k = Product(x[0], inner);
    TARE_RETURN_IF_ERROR(Place(c, x[0], batch, free[0], inner, &p.turn_x, &p.x_at));
    TARE_RETURN_IF_ERROR(Place(c, x[1], batch, inner, free[1], &p.turn_y, &p.y_at));
    p.x = x[0].tensor, p.y = x[1].tensor;
    std::vector<int64_t> batch_sizes;
    for (int label : batch) batch_sizes.push_back(x[0].Size(label));
    TARE_ASSIGN_OR_RETURN(p.batch, Shape::Make(batch_sizes));
    // Straight into the output's order if rows and columns allow it, else dense.
    Operand product = Dense(x, out);
    bool turned = false;
    if (!Fits(product, batch, free[0], free[1], &turned, &p.out_at) || turned || HasRepeats(out)) {
      product = Dense(x, Joined(batch, free[0], free[1]));
      if (!Fits(product, batch, free[0], free[1], &turned, &p.out_at)) return Internal("Einsum: a dense product must fit");
      p.out_at.stride = p.n;
    }
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(product.sizes));
    TARE_ASSIGN_OR_RETURN(product.tensor, MakeBatchProduct(c, p, shape));
    x[0] = std::move(product);
    return OkStatus();
  }

  static bool HasRepeats(const Labels& labels) {
    for (size_t i = 0; i < labels.size(); ++i) {
      if (std::find(labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, labels.end(), labels[i]) != labels.end()) return true;
    }
    return false;
  }

  // Contiguous dimensions `order` with the sizes that the operands give them; no elements yet.
  static Operand Dense(const std::vector<Operand>& x, const Labels& order) {
    Operand to;
    to.labels = order;
    for (int label : order) to.sizes.push_back(x[0].Has(label) ? x[0].Size(label) : x[1].Size(label));
    to.strides.resize(order.size());
    int64_t step = 1;
    for (size_t i = order.size(); i-- > 0; step *= to.sizes[i]) to.strides[i] = step;
    return to;
  }

  // The distance between neighbours when the labels are walked as one dimension; 0 when they are not one.
  // A dimension of one element has stride 1.
  static int64_t Collapsed(const Operand& x, const Labels& labels) {
    int64_t stride = 0, next = 0;
    for (size_t i = labels.size(); i-- > 0;) {
      const int64_t size = x.Size(labels[i]), step = x.Stride(labels[i]);
      if (size == 1) continue;
      if (stride == 0) stride = step;
      else if (step != next) return 0;
      next = step * size;
    }
    return stride == 0 ? 1 : stride;
  }

  // Whether matrices of these rows and columns can be read in place, as they are or turned.
  static bool Fits(const Operand& x, const Labels& batch, const Labels& rows, const Labels& columns, bool* turned,
                   MatrixLayout* at) {
    const int64_t row = Collapsed(x, rows), column = Collapsed(x, columns);
    if (row == 0 || column == 0 || (row != 1 && column != 1)) return false;
    // Rows of one element are contiguous whatever lies between them.
    *turned = column != 1;
    at->stride = *turned ? column : row;
    // A single row may claim any stride: give it the width of a dense one.
    if (Product(x, *turned ? columns : rows) == 1) at->stride = Product(x, *turned ? rows : columns);
    for (size_t i = 0; i < batch.size(); ++i) at->steps[i] = x.Stride(batch[i]);
    return true;
  }

  static Status Place(KernelCall& c, Operand& x, const Labels& batch, const Labels& rows, const Labels& columns,
                      bool* turned, MatrixLayout* at) {
    if (Fits(x, batch, rows, columns, turned, at)) return OkStatus();
    TARE_RETURN_IF_ERROR(Arrange(c, x, Joined(batch, rows, columns)));
    return Fits(x, batch, rows, columns, turned, at) ? OkStatus() : Internal("Einsum: a dense operand must fit");
  }

  // Checks that common labels have one size; a broadcast dimension of size 1 is dropped where the other has more.
  static Status Match(std::vector<Operand>& x) {
    const Labels labels = x[0].labels;
    for (int label : labels) {
      const int j = x[1].Find(label);
      if (j < 0) continue;
      const int64_t a = x[0].Size(label), b = x[1].sizes[static_cast<size_t>(j)];
      if (a == b) continue;
      if (label >= kCharacters && (a == 1 || b == 1)) {
        x[a == 1 ? 0 : 1].Drop(label);
        continue;
      }
      return InvalidArgument("Expected dimension {} at axis {} of the input shaped {} but got dimension {}", a, j,
                             x[1].tensor.shape().ToString(), b);
    }
    return OkStatus();
  }

  // Sums what the output does not name, orders the rest, and spreads repeated labels over diagonals.
  static Status Finish(KernelCall& c, Operand& x, const Labels& out, DType dtype) {
    Labels once;
    std::vector<int64_t> dims;
    for (int label : out) {
      if (!Contains(once, label)) once.push_back(label);
      const int i = x.Find(label);
      if (i < 0) return InvalidArgument("Einsum's output names a dimension that no input has");
      dims.push_back(x.sizes[static_cast<size_t>(i)]);
    }
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
    if (!IsDense(x, once)) TARE_RETURN_IF_ERROR(Arrange(c, x, once));
    if (once.size() == out.size()) return SetResult(c, x.tensor.Reshaped(shape), dtype);
    TARE_ASSIGN_OR_RETURN(Tensor spread, c.Temp(x.tensor.dtype(), shape));
    std::memset(spread.mutable_raw(), 0, spread.bytes());
    std::vector<int64_t> to(once.size(), 0);
    int64_t step = 1;
    for (size_t i = out.size(); i-- > 0; step *= dims[i]) to[static_cast<size_t>(std::ranges::find(once, out[i]) - once.begin())] += step;
    TARE_RETURN_IF_ERROR(ForType(Elements{}, spread.dtype(), [&]<class T>() {
      const T* from = x.tensor.data<T>();
      T* target = spread.mutable_data<T>();
      Walk(x.sizes, x.strides, to, [&](int64_t a, int64_t b) { target[b] = from[a]; });
      return OkStatus();
    }));
    return SetResult(c, std::move(spread), dtype);
  }

  static Status SetResult(KernelCall& c, Tensor t, DType dtype) {
    if (IsNarrowFloat(dtype)) return SetRounded(c, 0, dtype, std::move(t));
    c.SetOutput(0, std::move(t));
    return OkStatus();
  }

  std::vector<Subscript> inputs;
  Subscript output;
};

constexpr KernelRow kRows[] = {
    Op<Einsum>("Einsum"),
};

}  // namespace
extern constinit const KernelFamily kEinsumKernels = kRows;
}  // namespace tare
