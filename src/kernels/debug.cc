// Assertions, printing and the clock.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "kernels/registry.h"

namespace tare {
namespace {

// As short as reads back the same: few digits, else many.
template <class T>
std::string NumberText(T value, int few, int many) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", few, static_cast<double>(value));
  if (static_cast<T>(std::strtod(text, nullptr)) != value) {
    std::snprintf(text, sizeof text, "%.*g", many, static_cast<double>(value));
  }
  return text;
}

void AppendEscaped(std::string_view s, std::string* out) {
  for (char c : s) {
    switch (c) {
      case '\n': *out += "\\n"; break;
      case '\r': *out += "\\r"; break;
      case '\t': *out += "\\t"; break;
      case '"': *out += "\\\""; break;
      case '\'': *out += "\\'"; break;
      case '\\': *out += "\\\\"; break;
      default: {
        auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7f) *out += c;
        else *out += fmt::format("\\{:03o}", byte);
      }
    }
  }
}

void AppendElement(const Tensor& t, int64_t i, std::string* out) {
  if (t.dtype() == DType::kString) return AppendEscaped(t.data<StringCell>()[i].view(), out);
  Status s = ForType(Join<Reals, Types<bool>>{}, t.dtype(), [&]<class T>() {
    T value = t.data<T>()[i];
    if constexpr (std::is_same_v<T, double>) *out += NumberText(value, 15, 17);
    else if constexpr (std::is_integral_v<T>) *out += fmt::format("{}", static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value));
    else *out += NumberText(static_cast<float>(value), 6, 9);
    return OkStatus();
  });
  if (!s.ok()) *out += '?';
}

// Appends dimension `dim` from element *at on: rows in brackets, "..." where `limit` elements are through.
void AppendDimension(const Tensor& t, int dim, int64_t limit, int64_t* at, std::string* out) {
  for (int64_t i = 0; i < t.dim(dim); ++i) {
    if (*at >= limit) {
      if (dim > 0 && dim == t.rank() - 1) *out += "...";
      return;
    }
    if (dim == t.rank() - 1) {
      if (i > 0) *out += ' ';
      AppendElement(t, (*at)++, out);
    } else {
      *out += '[';
      AppendDimension(t, dim + 1, limit, at, out);
      *out += ']';
    }
  }
}

// The first `most` elements (all when negative) as TensorFlow prints them.
std::string Summary(const Tensor& t, int64_t most) {
  const int64_t n = t.num_elements(), limit = most < 0 ? n : std::min(most, n);
  std::string out;
  int64_t at = 0;
  if (t.rank() > 0) AppendDimension(t, 0, limit, &at, &out);
  else if (limit > 0) AppendElement(t, 0, &out);
  if (n > limit) out += "...";
  return out;
}

struct Assert {
  explicit Assert(AttrReader& a) : summarize(a.Int("summarize")) {}
  Status Run(KernelCall& c) const {
    const Tensor& condition = c.input(0);
    if (condition.rank() != 0) return InvalidArgument("In[0] should be a scalar: {}", condition.shape().ToString());
    if (condition.scalar<bool>()) return OkStatus();
    std::string message = "assertion failed:";
    for (int i = 1; i < c.num_inputs(); ++i) message += fmt::format(" [{}]", Summary(c.input(i), summarize));
    return InvalidArgument("{}", message);
  }
  int64_t summarize;
};

void Write(FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

// A kernel counts nothing: first_n is taken as none or all.
struct Print {
  explicit Print(AttrReader& a) : message(a.String("message")), first(a.Int("first_n")), summarize(a.Int("summarize")) {}
  Status Run(KernelCall& c) const {
    if (first != 0) {
      std::string text = message;
      for (int i = 1; i < c.num_inputs(); ++i) text += fmt::format("[{}]", Summary(c.input(i), summarize));
      Write(stderr, text + '\n');
    }
    c.SetOutput(0, c.TakeInput(0));
    return OkStatus();
  }
  std::string message;
  int64_t first, summarize;
};

struct PrintV2 {
  explicit PrintV2(AttrReader& a) : stream(a.String("output_stream")), end(a.String("end")) {
    // TensorFlow also appends to files; a model is not trusted to name them.
    if (stream.starts_with("file://")) {
      a.Fail(Unimplemented("PrintV2 to {}: a model may not write files", stream));
    } else if (stream != "stdout" && stream != "stderr" && stream != "log(info)" && stream != "log(warning)" &&
               stream != "log(error)") {
      a.Fail(InvalidArgument(
          "Unknown output stream: {}, Valid streams are: stdout stderr log(info) log(warning) log(error)", stream));
    }
  }
  Status Run(KernelCall& c) const {
    const Tensor& text = c.input(0);
    if (text.rank() != 0) return InvalidArgument("Input is expected to be scalar, but got {}", text.shape().ToString());
    Write(stream == "stdout" ? stdout : stderr, std::string(text.scalar<StringCell>().view()) + end);
    return OkStatus();
  }
  std::string stream, end;
};

Status Timestamp(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kDouble, {}));
  std::chrono::duration<double> since = std::chrono::system_clock::now().time_since_epoch();
  *out->mutable_data<double>() = since.count();
  return OkStatus();
}

constexpr KernelRow kRows[] = {
    Op<Assert>("Assert", kStateful),
    Op<Print>("Print", kStateful),
    Op<PrintV2>("PrintV2", kStateful),
    Op<Timestamp>("Timestamp", kStateful),
};

}  // namespace
extern constinit const KernelFamily kDebugKernels = kRows;
}  // namespace tare
