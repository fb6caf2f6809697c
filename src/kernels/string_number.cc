// Numbers to strings and back.
#include <algorithm>
#include <charconv>
#include <complex>
#include <cstdio>
#include <limits>

#include "kernels/registry.h"
#include "kernels/text.h"
#include "tensor/parse_number.h"

namespace tare {
namespace {

// More would only serve to exhaust memory.
constexpr int64_t kMaxWidth = 1 << 16;

struct AsString {
  explicit AsString(AttrReader& a) : dtype(a.Type("T")) {
    const int64_t precision = a.Int("precision"), width = a.Int("width");
    const bool scientific = a.Bool("scientific"), shortest = a.Bool("shortest");
    const std::string fill = a.String("fill");
    const bool real = dtype == DType::kFloat || dtype == DType::kDouble || dtype == DType::kHalf ||
                      dtype == DType::kBfloat16 || dtype == DType::kComplex64 || dtype == DType::kComplex128;
    if (fill.size() > 1) a.Fail(InvalidArgument("Fill string must be one or fewer characters"));
    if (scientific && shortest) a.Fail(InvalidArgument("Cannot select both scientific and shortest notation"));
    if (!real && dtype != DType::kString) {
      if (scientific || shortest) {
        a.Fail(InvalidArgument("scientific and shortest format not supported for datatype {}", DTypeName(dtype)));
      }
      if (precision >= 0) a.Fail(InvalidArgument("precision not supported for datatype {}", DTypeName(dtype)));
    }
    if (!fill.empty() && std::string_view(" +-0#").find(fill[0]) == std::string::npos) {
      a.Fail(InvalidArgument("Fill argument not supported: \"{}\"", fill));
    }
    if (width > kMaxWidth || precision > kMaxWidth) {
      a.Fail(InvalidArgument("width and precision above {} are not supported", kMaxWidth));
    }
    format = "%" + fill;
    if (width >= 0) format += std::to_string(width);
    if (precision >= 0 && dtype != DType::kString) format += "." + std::to_string(precision);
    plain = width <= 0 && fill.empty();
    string_width = static_cast<size_t>(std::max<int64_t>(0, width));
    const char* kind = scientific ? "e" : shortest ? "g" : "f";
    if (dtype == DType::kString) kind = "s";
    else if (!real) kind = IsUnsigned(dtype) ? "llu" : "lld";
    format += kind;
  }

  static bool IsUnsigned(DType t) {
    return t == DType::kUint8 || t == DType::kUint16 || t == DType::kUint32 || t == DType::kUint64;
  }

  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(0);
    if (dtype == DType::kString) {
      const bool left = format.find('-') != std::string::npos;
      const size_t width = string_width;
      return MapStrings(c, 50, [=](std::string_view s, std::string& scratch) -> std::string_view {
        if (s.size() >= width) return s;
        scratch.assign(left ? s : std::string_view());
        scratch.append(width - s.size(), ' ');
        return left ? scratch : scratch.append(s);
      });
    }
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kString, in.shape()));
    StringCell* to = out->mutable_data<StringCell>();
    return ForType(Join<Numbers, Types<bool>>(), dtype, [&]<class T>() {
      const T* from = in.data<T>();
      c.threads().ParallelFor(in.num_elements(), 100, [&](int64_t begin, int64_t end) {
        std::string text;
        for (int64_t i = begin; i < end; ++i) {
          text.clear();
          Print(from[i], &text);
          to[i].Assign(text);
        }
      });
      return OkStatus();
    });
  }

  template <class T>
  void Print(T v, std::string* text) const {
    if constexpr (std::is_same_v<T, bool>) {
      *text = v ? "true" : "false";
    } else if constexpr (std::is_integral_v<T>) {
      if (plain) {
        char digits[24];
        text->assign(digits, std::to_chars(digits, std::end(digits), v).ptr);
      } else if constexpr (std::is_unsigned_v<T>) {
        Printf(static_cast<unsigned long long>(v), text);
      } else {
        Printf(static_cast<long long>(v), text);
      }
    } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      *text += '(';
      Printf(static_cast<double>(v.real()), text);
      *text += ',';
      Printf(static_cast<double>(v.imag()), text);
      *text += ')';
    } else {
      Printf(static_cast<double>(v), text);
    }
  }

  // The format is of our making, above.
  template <class T>
  void Printf(T v, std::string* text) const {
    char space[400];
    const int n = std::snprintf(space, sizeof space, format.c_str(), v);
    if (n < 0) return;
    const size_t old = text->size(), size = static_cast<size_t>(n);
    if (size < sizeof space) {
      text->append(space, size);
      return;
    }
    text->resize(old + size + 1);
    std::snprintf(text->data() + old, size + 1, format.c_str(), v);
    text->resize(old + size);
  }

  DType dtype;
  std::string format;
  bool plain = false;  // neither width nor fill
  size_t string_width = 0;
};

struct StringToNumber {
  explicit StringToNumber(AttrReader& a) : dtype(a.Type("out_type")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, dtype, c.input(0).shape()));
    return ForType(Types<float, double, int32_t, int64_t, uint32_t, uint64_t>(), dtype, [&]<class T>() {
      T* to = out->mutable_data<T>();
      for (const StringCell& s : c.input(0).as<StringCell>()) {
        if (!ParseNumber(s.view(), to++)) {
          return InvalidArgument("StringToNumberOp could not correctly convert string: {}", s.view());
        }
      }
      return OkStatus();
    });
  }
  DType dtype;
};

constexpr KernelRow kRows[] = {
    Op<AsString>("AsString"),
    Op<StringToNumber>("StringToNumber"),
};

}  // namespace
extern constinit const KernelFamily kStringNumberKernels = kRows;
}  // namespace tare
