#include "compare.h"

#include <cmath>

namespace tare {
namespace {

template <class T>
constexpr bool kIsComplex = false;
template <class T>
constexpr bool kIsComplex<std::complex<T>> = true;

bool Close(double want, double got, Tolerance t) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (want == got) return true;
  return std::isfinite(want) && std::abs(got - want) <= t.atol + t.rtol * std::abs(want);
}

template <class T>
bool Same(const T& want, const T& got, Tolerance t) {
  if constexpr (kIsComplex<T>) {
    // Parts within the tolerance of the whole: a part near zero says nothing of accuracy.
    const double size = std::abs(std::complex<double>(want));
    if (std::isfinite(size)) t = {0, t.atol + t.rtol * size};
    return Close(want.real(), got.real(), t) && Close(want.imag(), got.imag(), t);
  } else if constexpr (std::is_integral_v<T>) {
    return want == got;
  } else {
    return Close(static_cast<double>(want), static_cast<double>(got), t);
  }
}

template <class T>
std::string Text(const T& v) {
  if constexpr (kIsComplex<T>)
    return fmt::format("{}{:+}j", v.real(), v.imag());
  else if constexpr (std::is_integral_v<T>)
    return fmt::format("{}", v);
  else
    return fmt::format("{:.9g}", static_cast<double>(v));
}

std::string Quoted(std::string_view s) {
  std::string out = "\"";
  for (unsigned char c : s.substr(0, 80)) {
    out += c >= ' ' && c < 127 ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  }
  return out + '"';
}

std::optional<std::string> FirstStringDifference(const Tensor& want, const Tensor& got) {
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    std::string_view w = want.as<StringCell>()[i].view(), g = got.as<StringCell>()[i].view();
    if (w != g) return fmt::format("element {}: want {}, got {}", i, Quoted(w), Quoted(g));
  }
  return {};
}

}  // namespace

Tolerance DefaultTolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
    case DType::kComplex64:
      return {1e-5, 1e-5};
    case DType::kDouble:
    case DType::kComplex128:
      return {1e-12, 1e-12};
    case DType::kBfloat16:
      return {2e-2, 1e-6};
    case DType::kHalf:
      return {2e-3, 1e-6};
    default:
      return {};
  }
}

std::optional<std::string> FirstDifference(const Tensor& want, const Tensor& got,
                                           Tolerance tolerance) {
  if (want.dtype() == DType::kString) return FirstStringDifference(want, got);
  std::optional<std::string> difference;
  Status known = ForType(Join<Numbers, Types<bool>>{}, want.dtype(), [&]<class T>() -> Status {
    std::span<const T> w = want.as<T>(), g = got.as<T>();
    for (size_t i = 0; i < w.size() && !difference; ++i) {
      if (!Same(w[i], g[i], tolerance)) {
        difference = fmt::format("element {}: want {}, got {}", i, Text(w[i]), Text(g[i]));
      }
    }
    return OkStatus();
  });
  if (!known.ok() && want.bytes() && std::memcmp(want.raw(), got.raw(), want.bytes()) != 0) {
    difference = "the bytes differ";
  }
  return difference;
}

}  // namespace tare
