// Strings as bytes: base64, raw numbers, hashes.
#include <algorithm>
#include <cstring>

#include "kernels/hashing.h"
#include "kernels/registry.h"
#include "kernels/text.h"

namespace tare {
namespace {

// --- base64, with the alphabet for URLs ---

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

struct EncodeBase64 {
  explicit EncodeBase64(AttrReader& a) : pad(a.Bool("pad")) {}
  Status Run(KernelCall& c) const {
    return MapStrings(c, 300, [this](std::string_view s, std::string& out) -> std::string_view {
      out.clear();
      for (size_t i = 0; i < s.size(); i += 3) {
        const size_t n = std::min<size_t>(3, s.size() - i);
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < n ? static_cast<uint8_t>(s[i + k]) : 0);
        for (size_t k = 0; k <= n; ++k) out += kAlphabet[bits >> (18 - 6 * k) & 63];
        if (pad) out.append(3 - n, '=');
      }
      return out;
    });
  }
  bool pad;
};

struct DecodeBase64 {
  explicit DecodeBase64(AttrReader&) {
    std::fill(std::begin(value), std::end(value), int8_t{-1});
    for (int i = 0; i < 64; ++i) value[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  }
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kString, c.input(0).shape()));
    StringCell* to = out->mutable_data<StringCell>();
    std::string bytes;
    for (const StringCell& s : c.input(0).as<StringCell>()) {
      TARE_RETURN_IF_ERROR(Decode(s.view(), &bytes));
      (to++)->Assign(bytes);
    }
    return OkStatus();
  }
  Status Decode(std::string_view s, std::string* out) const {
    out->clear();
    if (s.size() % 4 == 1) return InvalidArgument("Base64 string length cannot be 1 modulo 4.");
    // Padding must make whole groups of four.
    if (s.size() % 4 == 0 && s.ends_with('=')) s.remove_suffix(s.ends_with("==") ? 2 : 1);
    uint32_t bits = 0;
    for (size_t i = 0; i < s.size(); ++i) {
      const int v = value[static_cast<uint8_t>(s[i])];
      if (v < 0) return InvalidArgument("Invalid character found in base64.");
      bits = bits << 6 | static_cast<uint32_t>(v);
      // Every character but a group's first completes a byte.
      if (i % 4 != 0) *out += static_cast<char>(bits >> (6 - 2 * (i % 4)));
    }
    return OkStatus();
  }
  int8_t value[256];
};

// --- numbers as their bytes ---

// Reverses each number's bytes, where the text is big-endian.
void SwapBytes(DType t, void* data, size_t bytes) {
  const bool complex = t == DType::kComplex64 || t == DType::kComplex128;
  const size_t size = DTypeSize(t) / (complex ? 2 : 1);
  auto* p = static_cast<char*>(data);
  for (size_t i = 0; i < bytes; i += size) std::reverse(p + i, p + i + size);
}

// Input's shape and one dimension more, of the numbers in a string.
Result<Shape> RawShape(const Shape& in, int64_t numbers) {
  std::vector<int64_t> dims(in.dims().begin(), in.dims().end());
  dims.push_back(numbers);
  return Shape::Make(dims);
}

struct DecodeRaw {
  explicit DecodeRaw(AttrReader& a) : dtype(a.Type("out_type")), little_endian(a.Bool("little_endian")) {}
  Status Run(KernelCall& c) const {
    std::span<const StringCell> in = c.input(0).as<StringCell>();
    const size_t length = in.empty() ? 0 : in[0].size(), size = DTypeSize(dtype);
    for (size_t i = 1; i < in.size(); ++i) {
      if (in[i].size() != length) {
        return InvalidArgument("DecodeRaw requires input strings to all be the same size, but element {} has size {} != {}",
                               i, length, in[i].size());
      }
    }
    if (length % size != 0) {
      return InvalidArgument("Input to DecodeRaw has length {} that is not a multiple of {}, the size of {}", length,
                             size, DTypeName(dtype));
    }
    TARE_ASSIGN_OR_RETURN(Shape shape, RawShape(c.input(0).shape(), static_cast<int64_t>(length / size)));
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, dtype, shape));
    auto* to = static_cast<char*>(out->mutable_raw());
    for (const StringCell& s : in) {
      if (length > 0) std::memcpy(to, s.view().data(), length);
      if (dtype == DType::kBool) std::for_each(to, to + length, [](char& b) { b = b != 0; });
      to += length;
    }
    if (!little_endian) SwapBytes(dtype, out->mutable_raw(), out->bytes());
    return OkStatus();
  }
  DType dtype;
  bool little_endian;
};

struct DecodePaddedRaw {
  explicit DecodePaddedRaw(AttrReader& a) : dtype(a.Type("out_type")), little_endian(a.Bool("little_endian")) {}
  Status Run(KernelCall& c) const {
    if (c.input(1).rank() != 0) return InvalidArgument("k must be scalar, got shape {}", c.input(1).shape().ToString());
    const int32_t fixed = c.input(1).scalar<int32_t>();
    const size_t size = DTypeSize(dtype);
    if (fixed <= 0) return InvalidArgument("fixed_length ({}) must be greater than zero.", fixed);
    const auto length = static_cast<size_t>(fixed);
    if (length % size != 0) {
      return InvalidArgument("fixed_length ({}) must be a multiple of the size of out_type ({})", fixed, size);
    }
    TARE_ASSIGN_OR_RETURN(Shape shape, RawShape(c.input(0).shape(), static_cast<int64_t>(length / size)));
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, dtype, shape));
    auto* to = static_cast<char*>(out->mutable_raw());
    for (const StringCell& cell : c.input(0).as<StringCell>()) {
      const std::string_view s = cell.view().substr(0, length);
      std::copy(s.begin(), s.end(), to);
      std::fill(to + s.size(), to + length, '\0');
      to += length;
    }
    if (!little_endian) SwapBytes(dtype, out->mutable_raw(), out->bytes());
    return OkStatus();
  }
  DType dtype;
  bool little_endian;
};

// --- hashes ---

// MurmurHash64A, with the seed TensorFlow gives it.
uint64_t Murmur64(std::string_view s) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995, kSeed = 0xdecafcaffe;
  uint64_t h = kSeed ^ (s.size() * kMul);
  for (; s.size() >= 8; s.remove_prefix(8)) {
    uint64_t k = Load64(s.data()) * kMul;
    h = (h ^ (k ^ k >> 47) * kMul) * kMul;
  }
  if (!s.empty()) {
    uint64_t rest = 0;
    std::memcpy(&rest, s.data(), s.size());
    h = (h ^ rest) * kMul;
  }
  h = (h ^ h >> 47) * kMul;
  return h ^ h >> 47;
}

template <class Hash>
Status HashToBuckets(KernelCall& c, uint64_t buckets, Hash hash) {
  TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kInt64, c.input(0).shape()));
  const StringCell* from = c.input(0).data<StringCell>();
  int64_t* to = out->mutable_data<int64_t>();
  c.threads().ParallelFor(out->num_elements(), 30, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<int64_t>(hash(from[i].view()) % buckets);
  });
  return OkStatus();
}

uint64_t Buckets(AttrReader& a) {
  const int64_t n = a.Int("num_buckets");
  if (n < 1) a.Fail(InvalidArgument("Value for attr 'num_buckets' of {} must be at least minimum 1", n));
  return static_cast<uint64_t>(std::max<int64_t>(1, n));
}

template <uint64_t (*kHash)(std::string_view)>
struct ToBucket {
  explicit ToBucket(AttrReader& a) : buckets(Buckets(a)) {}
  Status Run(KernelCall& c) const { return HashToBuckets(c, buckets, kHash); }
  uint64_t buckets;
};

struct ToBucketStrong {
  explicit ToBucketStrong(AttrReader& a) : buckets(Buckets(a)), key(a.Ints("key")) {
    if (key.size() != 2) a.Fail(InvalidArgument("Key must have 2 elements"));
  }
  Status Run(KernelCall& c) const {
    const auto k0 = static_cast<uint64_t>(key[0]), k1 = static_cast<uint64_t>(key[1]);
    return HashToBuckets(c, buckets, [=](std::string_view s) { return SipHash(k0, k1, s); });
  }
  uint64_t buckets;
  std::vector<int64_t> key;
};

// FarmHash of each row's bytes. A row of several strings is the hashes of each.
Status FingerprintRows(KernelCall& c) {
  const Tensor &data = c.input(0), &method = c.input(1);
  if (method.rank() != 0) return InvalidArgument("`method` should be a scalar string: {}", method.shape().ToString());
  if (method.scalar<StringCell>().view() != "farmhash64") {
    return InvalidArgument("Unsupported fingerprint method: {}", method.scalar<StringCell>().view());
  }
  if (data.rank() < 1) {
    return InvalidArgument("`data` should have at least one dimension: {}", data.shape().ToString());
  }
  const bool strings = data.dtype() == DType::kString;
  if (!strings && !IsPlain(data.dtype())) return InvalidArgument("Data type not supported");
  TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kUint8, {data.dim(0), 8}));
  const auto row_elements = static_cast<size_t>(data.shape().product(1, data.rank()));
  const size_t row_bytes = row_elements * (strings ? 8 : DTypeSize(data.dtype()));
  std::vector<uint64_t> hashes(strings ? row_elements : 0);
  uint8_t* to = out->mutable_data<uint8_t>();
  for (size_t row = 0; row < static_cast<size_t>(data.dim(0)); ++row, to += 8) {
    uint64_t hash;
    if (strings) {
      const StringCell* s = data.data<StringCell>() + row * row_elements;
      for (size_t i = 0; i < row_elements; ++i) hashes[i] = Farm64(s[i].view());
      hash = row_elements == 1 ? hashes[0] : Farm64({reinterpret_cast<const char*>(hashes.data()), row_bytes});
    } else {
      hash = Farm64({static_cast<const char*>(data.raw()) + row * row_bytes, row_bytes});
    }
    std::memcpy(to, &hash, 8);
  }
  return OkStatus();
}

constexpr KernelRow kRows[] = {
    Op<DecodeBase64>("DecodeBase64"),
    Op<DecodePaddedRaw>("DecodePaddedRaw"),
    Op<DecodeRaw>("DecodeRaw"),
    Op<EncodeBase64>("EncodeBase64"),
    Op<FingerprintRows>("Fingerprint"),
    Op<ToBucket<Murmur64>>("StringToHashBucket"),
    Op<ToBucket<Farm64>>("StringToHashBucketFast"),
    Op<ToBucketStrong>("StringToHashBucketStrong"),
};

}  // namespace
extern constinit const KernelFamily kStringBytesKernels = kRows;
}  // namespace tare
