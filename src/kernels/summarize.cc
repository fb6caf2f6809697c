#include "kernels/summarize.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace tare {
namespace {

// The shorter of two precisions that reads back as the same number.
template <class T>
void AppendFloat(T v, int digits, int all_digits, std::string* out) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(v));
  if (v == v && static_cast<T>(std::strtod(text, nullptr)) != v) {
    std::snprintf(text, sizeof text, "%.*g", all_digits, static_cast<double>(v));
  }
  *out += text;
}

void AppendQuoted(std::string_view s, std::string* out) {
  *out += '"';
  for (char c : s) {
    switch (c) {
      case '\n': *out += "\\n"; break;
      case '\r': *out += "\\r"; break;
      case '\t': *out += "\\t"; break;
      case '"': *out += "\\\""; break;
      case '\'': *out += "\\'"; break;
      case '\\': *out += "\\\\"; break;
      default: *out += c;
    }
  }
  *out += '"';
}

void AppendElement(const Tensor& t, int64_t i, std::string* out) {
  if (t.dtype() == DType::kString) return AppendQuoted(t.data<StringCell>()[i].view(), out);
  if (t.dtype() == DType::kBool) {
    *out += t.data<bool>()[i] ? '1' : '0';
    return;
  }
  Status known = ForType(Reals(), t.dtype(), [&]<class T>() {
    const T v = t.data<T>()[i];
    if constexpr (std::is_integral_v<T>) *out += std::to_string(v);
    else if constexpr (std::is_same_v<T, double>) AppendFloat(v, 15, 17, out);
    else AppendFloat(static_cast<float>(v), 6, 9, out);
    return OkStatus();
  });
  if (!known.ok()) *out += '?';
}

class Printer {
 public:
  Printer(const Tensor& t, int64_t ends, std::string* out) : t_(t), ends_(ends), out_(out) {}

  void Print(int dim, int64_t first) {
    if (dim == t_.rank()) return AppendElement(t_, first, out_);
    *out_ += '[';
    const int64_t n = t_.dim(dim), step = t_.shape().product(dim + 1, t_.rank());
    for (int64_t i = 0; i < std::min(ends_, n); ++i) {
      if (i > 0) Space(dim);
      Print(dim + 1, first + i * step);
    }
    if (n > 2 * ends_) {
      Space(dim);
      *out_ += "...";
    }
    for (int64_t i = std::max(ends_, n - ends_); i < n; ++i) {
      Space(dim);
      Print(dim + 1, first + i * step);
    }
    *out_ += ']';
  }

 private:
  // Between elements of a dimension: a blank, or as many line feeds as dimensions end, and an indent.
  void Space(int dim) {
    const int inner = t_.rank() - dim - 1;
    if (inner > 0) out_->append(static_cast<size_t>(inner), '\n').append(static_cast<size_t>(dim), ' ');
    *out_ += ' ';
  }
  const Tensor& t_;
  const int64_t ends_;
  std::string* out_;
};

}  // namespace

std::string Summarize(const Tensor& t, int64_t ends) {
  const int64_t n = t.num_elements();
  ends = ends < 0 ? n : std::min(ends, n);
  std::string out;
  if (t.rank() == 0 && ends == 0) return "...";
  Printer(t, ends, &out).Print(0, 0);
  return out;
}

}  // namespace tare
