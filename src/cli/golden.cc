#include "cli/golden.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/npz.h"
#include "plan/plan.h"

namespace tare {
namespace {

// bfloat16 and half keep few digits: their answers are compared with what they can hold.
double LeastRelative(DType t) { return t == DType::kBfloat16 ? 2e-2 : t == DType::kHalf ? 2e-3 : 0; }

template <class T>
double AsDouble(const T& v) {
  return static_cast<double>(v);
}

bool Close(double e, double a, double relative, double absolute) {
  if (std::isnan(e) || std::isnan(a)) return std::isnan(e) && std::isnan(a);
  if (e == a) return true;
  return std::abs(e - a) <= absolute + relative * std::abs(e);
}

template <class T>
Status CompareFloats(std::span<const T> e, std::span<const T> a, double relative, double absolute) {
  double worst = 0;
  size_t at = e.size(), wrong = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    double x = AsDouble(e[i]), y = AsDouble(a[i]);
    if (Close(x, y, relative, absolute)) continue;
    ++wrong;
    double by = std::isfinite(x - y) ? std::abs(x - y) : INFINITY;
    if (by > worst || at == e.size()) worst = by, at = i;
  }
  if (wrong == 0) return OkStatus();
  return InvalidArgument("{} of {} elements differ, most at [{}]: expected {}, got {}", wrong, e.size(), at,
                         AsDouble(e[at]), AsDouble(a[at]));
}

}  // namespace

Result<std::vector<std::string>> GoldenFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  std::error_code error;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      if (entry.path().extension() == ".npz") found.push_back(entry.path().string());
    }
    std::ranges::sort(found);
    if (error || found.empty()) return NotFound("{}: no .npz files", path);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

Result<Golden> ReadGolden(const Ref<Account>& account, const std::string& file) {
  Golden g;
  g.file = file;
  // NAME.3.npz -> NAME
  std::filesystem::path stem = std::filesystem::path(file).stem();
  g.signature = stem.has_extension() ? stem.stem().string() : stem.string();
  TARE_ASSIGN_OR_RETURN(NpzArrays arrays, ReadNpzFile(account, file));
  for (auto& [key, tensor] : arrays) {
    if (key.starts_with("in/")) g.inputs.emplace(key.substr(3), std::move(tensor));
    else if (key.starts_with("out/")) g.outputs.emplace(key.substr(4), std::move(tensor));
  }
  if (g.outputs.empty()) return InvalidArgument("{}: no key begins with out/", file);
  return g;
}

Status CompareTensors(const Tensor& e, const Tensor& a, const Tolerance& tolerance) {
  if (e.dtype() != a.dtype() || !(e.shape() == a.shape())) {
    return InvalidArgument("expected {} {}, got {} {}", DTypeName(e.dtype()), e.shape().ToString(), DTypeName(a.dtype()),
                           a.shape().ToString());
  }
  if (e.dtype() == DType::kString) {
    for (int64_t i = 0; i < e.num_elements(); ++i) {
      std::string_view x = e.data<StringCell>()[i], y = a.data<StringCell>()[i];
      if (x != y) return InvalidArgument("element [{}]: expected '{}', got '{}'", i, x, y);
    }
    return OkStatus();
  }
  const double relative = std::max(tolerance.relative, LeastRelative(e.dtype()));
  const double absolute = std::max(tolerance.absolute, LeastRelative(e.dtype()));
  Status s;
  switch (e.dtype()) {
    case DType::kFloat: return CompareFloats(e.as<float>(), a.as<float>(), relative, absolute);
    case DType::kDouble: return CompareFloats(e.as<double>(), a.as<double>(), relative, absolute);
    case DType::kHalf: return CompareFloats(e.as<Half>(), a.as<Half>(), relative, absolute);
    case DType::kBfloat16: return CompareFloats(e.as<BFloat16>(), a.as<BFloat16>(), relative, absolute);
    case DType::kComplex64:
      return CompareFloats<float>({reinterpret_cast<const float*>(e.raw()), static_cast<size_t>(e.num_elements()) * 2},
                                  {reinterpret_cast<const float*>(a.raw()), static_cast<size_t>(a.num_elements()) * 2},
                                  relative, absolute);
    case DType::kComplex128:
      return CompareFloats<double>({reinterpret_cast<const double*>(e.raw()), static_cast<size_t>(e.num_elements()) * 2},
                                   {reinterpret_cast<const double*>(a.raw()), static_cast<size_t>(a.num_elements()) * 2},
                                   relative, absolute);
    default: break;
  }
  const size_t size = DTypeSize(e.dtype());
  auto *x = static_cast<const char*>(e.raw()), *y = static_cast<const char*>(a.raw());
  for (size_t i = 0; i < static_cast<size_t>(e.num_elements()); ++i) {
    if (std::memcmp(x + i * size, y + i * size, size) != 0) {
      return InvalidArgument("element [{}] differs; {} must be equal", i, DTypeName(e.dtype()));
    }
  }
  return OkStatus();
}

namespace {

// Recorded integers and floats in the signature's own type, as TensorFlow converts what Python gives it.
Result<Tensor> ConvertTo(const Ref<Account>& account, const Tensor& t, DType dtype) {
  if (t.dtype() == dtype || dtype == DType::kInvalid) return t;
  TARE_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(account, dtype, t.shape(), Kind::kCaller));
  using Plain = Join<Reals, Types<bool>>;
  TARE_RETURN_IF_ERROR(ForType(Plain{}, t.dtype(), [&]<class From>() {
    return ForType(Plain{}, dtype, [&]<class To>() {
      for (int64_t i = 0; i < t.num_elements(); ++i) {
        const From v = t.data<From>()[i];
        if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) out.mutable_data<To>()[i] = static_cast<To>(v);
        else out.mutable_data<To>()[i] = static_cast<To>(static_cast<double>(v));
      }
      return OkStatus();
    });
  }));
  return out;
}

// The golden's inputs under the signature's names and types. Keras renames nested inputs: where the names differ
// but their number does not, both are taken in sorted order.
Result<NamedTensors> AdaptInputs(const Ref<Account>& account, const Signature& s, const NamedTensors& recorded) {
  std::map<std::string, DType> ports;
  for (const SignaturePort& p : s.inputs) ports.emplace(p.name, p.dtype);
  const bool rename = ports.size() == recorded.size() &&
                      !std::ranges::equal(ports, recorded, {}, [](auto& p) { return p.first; }, [](auto& r) { return r.first; });
  NamedTensors inputs;
  auto next = ports.begin();
  for (const auto& [name, t] : recorded) {
    auto port = rename ? next++ : ports.find(name);
    DType dtype = port == ports.end() ? t.dtype() : port->second;
    auto converted = ConvertTo(account, t, dtype);
    if (!converted.ok()) return std::move(converted).status().At(fmt::format("input '{}'", name));
    inputs.emplace(port == ports.end() ? name : port->first, *std::move(converted));
  }
  return inputs;
}

}  // namespace

Status ReplayGolden(Model& model, const Golden& golden, const Tolerance& tolerance) {
  const std::string where = std::filesystem::path(golden.file).filename().string();
  const Signature* signature = model.FindSignature(golden.signature);
  if (!signature) return NotFound("{}: the model has no signature '{}'", where, golden.signature);
  TARE_ASSIGN_OR_RETURN(NamedTensors inputs, AdaptInputs(model.context().account(), *signature, golden.inputs));
  auto outputs = model.Run(*signature, inputs);
  if (!outputs.ok()) return std::move(outputs).status().At(where);
  // A model that computes in bfloat16 differs by its last digit between TensorFlow's own builds, too.
  Tolerance wanted = tolerance;
  if (signature->plan->uses_bfloat16()) {
    wanted.relative = std::max(wanted.relative, 8e-3);
    wanted.absolute = std::max(wanted.absolute, 8e-3);
  }
  for (const auto& [name, expected] : golden.outputs) {
    auto it = outputs->find(name);
    if (it == outputs->end()) return NotFound("{}: there is no output '{}'", where, name);
    Status s = CompareTensors(expected, it->second, wanted);
    if (!s.ok()) return std::move(s).At(fmt::format("{}: output '{}'", where, name));
  }
  return OkStatus();
}

Result<NamedTensors> MakeInputs(const Ref<Account>& account, const Signature& signature) {
  NamedTensors inputs;
  for (const SignaturePort& p : signature.inputs) {
    if (p.default_value.valid()) continue;
    std::vector<int64_t> dims = p.unknown_rank ? std::vector<int64_t>{1} : p.dims;
    for (int64_t& d : dims) d = d < 0 ? 1 : d;
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
    TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(account, p.dtype, shape, Kind::kCaller));
    if (p.dtype == DType::kString) {
      for (StringCell& c : t.mut<StringCell>()) c.Assign("one two");
    } else {
      std::memset(t.mutable_raw(), 0, t.bytes());
    }
    inputs.emplace(p.name, std::move(t));
  }
  return inputs;
}

}  // namespace tare
