#include "cli/values.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/base64.h"
#include "cli/npz.h"

namespace tare {
namespace {

using nlohmann::json;

// A value's short form for messages.
std::string Shown(const json& v) {
  if (v.is_array()) return "a list";
  std::string text = v.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > 40 ? text.substr(0, 37) + "..." : text;
}

Status WrongType(const json& v, DType dtype) {
  return InvalidArgument("{} is not a value of {}", Shown(v), DTypeName(dtype));
}

// --- one element ---

Result<double> ParseReal(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  double d;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), d);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size()) {
    return InvalidArgument("\"{}\" is not a number", text.substr(0, 40));
  }
  return d;
}

Result<double> RealOf(const json& v, DType dtype) {
  if (v.is_number()) return v.get<double>();
  if (!v.is_string()) return WrongType(v, dtype);
  return ParseReal(v.get_ref<const std::string&>());
}

// "RE+IMj"; the sign between is the last one that does not belong to an exponent.
Result<std::complex<double>> ComplexOf(const json& v, DType dtype) {
  if (!v.is_string() || !v.get_ref<const std::string&>().ends_with('j')) {
    TARE_ASSIGN_OR_RETURN(double re, RealOf(v, dtype));
    return std::complex<double>(re);
  }
  std::string_view text = v.get_ref<const std::string&>();
  text.remove_suffix(1);
  size_t split = text.size();
  while (split > 0 && !((text[split] == '+' || text[split] == '-') && text[split - 1] != 'e'))
    --split;
  if (split == text.size()) split = 0;
  std::string_view im = text.substr(split);
  if (im.starts_with('+')) im.remove_prefix(1);
  double re = 0;
  if (split > 0) {
    TARE_ASSIGN_OR_RETURN(re, ParseReal(text.substr(0, split)));
  }
  TARE_ASSIGN_OR_RETURN(double imaginary, ParseReal(im));
  return std::complex<double>(re, imaginary);
}

template <class T>
Result<T> IntegerOf(const json& v, DType dtype) {
  const bool fits = v.is_number_unsigned()
                        ? std::in_range<T>(v.get<uint64_t>())
                        : v.is_number_integer() && std::in_range<T>(v.get<int64_t>());
  if (fits) return static_cast<T>(v.get<int64_t>());
  if (v.is_number_integer())
    return InvalidArgument("{} does not fit {}", Shown(v), DTypeName(dtype));
  return WrongType(v, dtype);
}

Result<std::string> BytesOf(const json& v, DType dtype) {
  if (v.is_string()) return v.get<std::string>();
  if (v.is_object() && v.size() == 1 && v.contains("b64") && v["b64"].is_string()) {
    return DecodeBase64(v["b64"].get_ref<const std::string&>());
  }
  return WrongType(v, dtype);
}

template <class T>
Status SetElement(const json& v, DType dtype, T* to) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!v.is_boolean()) return WrongType(v, dtype);
    *to = v.get<bool>();
  } else if constexpr (std::is_same_v<T, StringCell>) {
    TARE_ASSIGN_OR_RETURN(std::string bytes, BytesOf(v, dtype));
    to->Assign(bytes);
  } else if constexpr (std::is_integral_v<T>) {
    TARE_ASSIGN_OR_RETURN(*to, IntegerOf<T>(v, dtype));
  } else if constexpr (std::is_floating_point_v<T>) {
    TARE_ASSIGN_OR_RETURN(double d, RealOf(v, dtype));
    *to = static_cast<T>(d);
  } else if constexpr (std::is_constructible_v<float, T>) {
    TARE_ASSIGN_OR_RETURN(double d, RealOf(v, dtype));
    *to = T(static_cast<float>(d));
  } else {
    TARE_ASSIGN_OR_RETURN(std::complex<double> c, ComplexOf(v, dtype));
    *to = T(c);
  }
  return OkStatus();
}

json RealToJson(double d) {
  if (std::isfinite(d)) return d;
  return std::isnan(d) ? "NaN" : d > 0 ? "Infinity" : "-Infinity";
}

// The shortest decimal that reads back as the same float, as a number.
json FloatToJson(float f) {
  if (!std::isfinite(f)) return RealToJson(f);
  double d;
  const std::string text = fmt::format("{}", f);
  std::from_chars(text.data(), text.data() + text.size(), d);
  return d;
}

template <class T>
json ElementToJson(const T& v) {
  if constexpr (std::is_same_v<T, StringCell>) {
    // dump() is what knows whether text is UTF-8.
    try {
      json text = std::string(v.view());
      (void)text.dump();
      return text;
    } catch (const json::type_error&) {
      return {{"b64", EncodeBase64(v.view())}};
    }
  } else if constexpr (std::is_integral_v<T>) {
    return v;
  } else if constexpr (std::is_same_v<T, double>) {
    return RealToJson(v);
  } else if constexpr (std::is_constructible_v<float, T>) {
    return FloatToJson(static_cast<float>(v));
  } else {
    return fmt::format("{}{:+}j", v.real(), v.imag());
  }
}

// --- nesting ---

using Elements = Join<Numbers, Types<bool, StringCell>>;

// The shape that the first elements at each depth tell.
Result<Shape> Outline(const json& value, const PartialShape& wanted) {
  std::vector<int64_t> dims;
  for (const json* v = &value; v->is_array(); v = &v->front()) {
    dims.push_back(static_cast<int64_t>(v->size()));
    if (dims.size() > kMaxRank) return InvalidArgument("lists are nested deeper than {}", kMaxRank);
    if (v->empty()) {
      for (size_t d = dims.size(); !wanted.unknown_rank && d < wanted.dims.size(); ++d) {
        dims.push_back(std::max<int64_t>(wanted.dims[d], 0));
      }
      break;
    }
  }
  return Shape::Make(dims);
}

template <class T>
Status Fill(const json& value, DType dtype, const Shape& shape, int depth, T** to) {
  if (depth == shape.rank() || shape.num_elements() == 0) {
    return shape.num_elements() == 0 ? OkStatus() : SetElement(value, dtype, (*to)++);
  }
  if (!value.is_array()) return InvalidArgument("{} where a list was to be", Shown(value));
  if (static_cast<int64_t>(value.size()) != shape[depth]) {
    return InvalidArgument("a list of {} where the first has {}", value.size(), shape[depth]);
  }
  for (size_t i = 0; i < value.size(); ++i) {
    Status status = Fill(value[i], dtype, shape, depth + 1, to);
    if (!status.ok()) {
      // "[1][0]: what": brackets gather on the way up.
      const bool bracket = status.message().starts_with('[');
      return InvalidArgument("[{}]{}{}", i, bracket ? "" : ": ", status.message());
    }
  }
  return OkStatus();
}

template <class T>
json Nest(const Tensor& tensor, int depth, const T** from) {
  if (depth == tensor.rank()) return ElementToJson(*(*from)++);
  json list = json::array();
  for (int64_t i = 0; i < tensor.dim(depth); ++i) list.push_back(Nest(tensor, depth + 1, from));
  return list;
}

Status CheckShape(const Shape& shape, const PartialShape& wanted) {
  if (wanted.Accepts(shape)) return OkStatus();
  return InvalidArgument("shape {} is not {}", shape.ToString(), wanted.ToString());
}

Result<Tensor> FromFile(const Ref<Account>& account, const std::string& path, DType dtype,
                        const PartialShape& shape) {
  TARE_ASSIGN_OR_RETURN(Tensor t, ReadNpyFile(account, path));
  if (t.dtype() != dtype) {
    return InvalidArgument("{} holds {}, not {}", path, DTypeName(t.dtype()), DTypeName(dtype));
  }
  TARE_RETURN_IF_ERROR(CheckShape(t.shape(), shape).At(path));
  return t;
}

}  // namespace

Result<Tensor> TensorFromJson(const Ref<Account>& account, const json& value, DType dtype,
                              const PartialShape& wanted) {
  TARE_ASSIGN_OR_RETURN(Shape shape, Outline(value, wanted));
  TARE_RETURN_IF_ERROR(CheckShape(shape, wanted));
  TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(account, dtype, shape, Kind::kCaller));
  TARE_RETURN_IF_ERROR(ForType(Elements{}, dtype, [&]<class T>() -> Status {
    T* to = t.mutable_data<T>();
    return Fill(value, dtype, shape, 0, &to);
  }));
  return t;
}

json TensorToJson(const Tensor& tensor) {
  json out;
  Status known = ForType(Elements{}, tensor.dtype(), [&]<class T>() -> Status {
    const T* from = tensor.data<T>();
    out = Nest(tensor, 0, &from);
    return OkStatus();
  });
  if (!known.ok()) out = fmt::format("<{}>", DTypeName(tensor.dtype()));
  return out;
}

Result<Tensor> TensorFromText(const Ref<Account>& account, std::string_view text, DType dtype,
                              const PartialShape& shape) {
  if (text.starts_with('@')) return FromFile(account, std::string(text.substr(1)), dtype, shape);
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded() && dtype == DType::kString) value = std::string(text);
  if (value.is_discarded()) return InvalidArgument("not JSON: {}", text.substr(0, 60));
  return TensorFromJson(account, value, dtype, shape);
}

std::string TensorToText(const Tensor& tensor) { return TensorToJson(tensor).dump(); }

}  // namespace tare
