// Strings: case, strip, length, parts, joins.
#include <algorithm>

#include "kernels/registry.h"
#include "kernels/text.h"
#include "tensor/parse_number.h"

namespace tare {
namespace {

// StringLower and StringUpper.
template <bool kUpper>
struct ChangeCase {
  explicit ChangeCase(AttrReader& a) {
    const std::string encoding = a.String("encoding");
    utf8 = encoding == "utf-8";
    if (!utf8 && !encoding.empty()) {
      a.Fail(InvalidArgument("only utf-8 or '' (no encoding) is supported, received {}", encoding));
    }
  }
  Status Run(KernelCall& c) const {
    if (utf8) {
      return MapStrings(c, 1000, [](std::string_view s, std::string& scratch) -> std::string_view {
        // TensorFlow's text ends at a NUL here.
        (kUpper ? ToUpperUtf8 : ToLowerUtf8)(s.substr(0, s.find('\0')), &scratch);
        return scratch;
      });
    }
    return MapStrings(c, 100, [](std::string_view s, std::string& scratch) -> std::string_view {
      constexpr char kFirst = kUpper ? 'a' : 'A', kLast = kUpper ? 'z' : 'Z';
      scratch.assign(s);
      for (char& ch : scratch) ch ^= (ch >= kFirst && ch <= kLast) ? 32 : 0;
      return scratch;
    });
  }
  bool utf8;
};

Status Strip(KernelCall& c) {
  return MapStrings(c, 40, [](std::string_view s, std::string&) { return StripSpace(s); });
}

int64_t CountCharacters(std::string_view s) {
  return std::count_if(s.begin(), s.end(), [](char c) { return !IsTrailByte(c); });
}

struct Length {
  explicit Length(AttrReader& a) : utf8(a.String("unit") == "UTF8_CHAR") {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kInt32, c.input(0).shape()));
    int32_t* to = out->mutable_data<int32_t>();
    for (const StringCell& s : c.input(0).as<StringCell>()) {
      *to++ = static_cast<int32_t>(utf8 ? CountCharacters(s.view()) : static_cast<int64_t>(s.size()));
    }
    return OkStatus();
  }
  bool utf8;
};

// --- Substr ---

// Part [pos, pos + len) in bytes; a negative pos counts from the end, a negative len means all the rest.
bool PartOfBytes(std::string_view s, int64_t pos, int64_t len, std::string_view* part) {
  const auto size = static_cast<int64_t>(s.size());
  if (pos > size || pos < -size) return false;
  if (pos < 0) pos += size;
  *part = s.substr(static_cast<size_t>(pos), static_cast<size_t>(len));
  return true;
}

// The same in characters, where a negative len means none, and is refused from the end.
bool PartOfCharacters(std::string_view s, int64_t pos, int64_t len, std::string_view* part) {
  if (pos < 0) {
    if (len < 0) return false;
    const int64_t count = CountCharacters(s);
    if (pos < -count) return false;
    pos += count;
  }
  auto skip = [&](size_t at, int64_t characters) {
    for (; characters > 0 && at < s.size(); --characters) {
      do ++at;
      while (at < s.size() && IsTrailByte(s[at]));
      if (characters == 1) return std::pair(at, true);
    }
    return std::pair(at, characters <= 0);
  };
  auto [begin, found] = skip(0, pos);
  if (!found) return false;
  *part = s.substr(begin, skip(begin, len).first - begin);
  return true;
}

struct Substr {
  explicit Substr(AttrReader& a) : utf8(a.String("unit") == "UTF8_CHAR") {}
  Status Run(KernelCall& c) const {
    const Shape &pos = c.input(1).shape(), &len = c.input(2).shape();
    if (pos != len) {
      return InvalidArgument("pos and len should have the same shape, got: {} vs. {}", pos.ToString(), len.ToString());
    }
    return c.input(1).dtype() == DType::kInt32 ? Cut<int32_t>(c) : Cut<int64_t>(c);
  }

  template <class T>
  Status Cut(KernelCall& c) const {
    const Tensor &in = c.input(0), &pos = c.input(1);
    TARE_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(in.shape(), pos.shape()));
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kString, shape));
    const StringCell* from = in.data<StringCell>();
    StringCell* to = out->mutable_data<StringCell>();
    const T *positions = pos.data<T>(), *lengths = c.input(2).data<T>();
    const Strides in_strides(in.shape(), shape), pos_strides(pos.shape(), shape);
    for (int64_t i = 0, n = shape.num_elements(); i < n; ++i) {
      const int64_t k = pos_strides.At(shape, i);
      const std::string_view s = from[in_strides.At(shape, i)].view();
      std::string_view part;
      if (utf8 ? !PartOfCharacters(s, positions[k], lengths[k], &part)
               : !PartOfBytes(s, positions[k], lengths[k], &part)) {
        if (utf8) return InvalidArgument("pos {} out of range for string at index {}", positions[k], i);
        return InvalidArgument("pos {} out of range for string b'{}' at index {}", positions[k], s, i);
      }
      to[i].Assign(part);
    }
    return OkStatus();
  }

  // Where an element of the broadcast shape lies in one of the tensors.
  struct Strides {
    Strides(const Shape& from, const Shape& to) {
      same = from == to;
      int64_t step = 1;
      for (int i = from.rank() - 1, j = to.rank() - 1; i >= 0; --i, --j) {
        stride[static_cast<size_t>(j)] = from[i] == 1 ? 0 : step;
        step *= from[i];
      }
      scalar = step == 1;
    }
    int64_t At(const Shape& shape, int64_t i) const {
      if (same) return i;
      if (scalar) return 0;
      int64_t at = 0;
      for (int j = shape.rank() - 1; j >= 0; --j) {
        at += i % shape[j] * stride[static_cast<size_t>(j)];
        i /= shape[j];
      }
      return at;
    }
    std::array<int64_t, kMaxRank> stride{};
    bool same, scalar;
  };
  bool utf8;
};

// --- joins ---

struct Join {
  explicit Join(AttrReader& a) : separator(a.String("separator")) {}
  Status Run(KernelCall& c) const {
    const Shape* shape = nullptr;
    for (int i = 0; i < c.num_inputs(); ++i) {
      const Shape& s = c.input(i).shape();
      if (s.rank() == 0) continue;
      if (shape && *shape != s) {
        return InvalidArgument("Input shapes do not match: {} vs. {}", shape->ToString(), s.ToString());
      }
      shape = &s;
    }
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kString, shape ? *shape : Shape{}));
    std::string text;
    std::span<StringCell> to = out->mut<StringCell>();
    for (size_t i = 0; i < to.size(); ++i) {
      text.clear();
      for (int k = 0; k < c.num_inputs(); ++k) {
        const Tensor& in = c.input(k);
        if (k > 0) text += separator;
        text += in.data<StringCell>()[in.rank() == 0 ? 0 : i].view();
      }
      to[i].Assign(text);
    }
    return OkStatus();
  }
  std::string separator;
};

struct ReduceJoin {
  explicit ReduceJoin(AttrReader& a) : keep_dims(a.Bool("keep_dims")), separator(a.String("separator")) {}
  Status Run(KernelCall& c) const {
    const Tensor& in = c.input(0);
    const int rank = in.rank();
    // Reduced dimensions as listed: the first is joined first.
    std::array<int, kMaxRank> reduced{};
    std::array<bool, kMaxRank> is_reduced{};
    int count = 0;
    for (int32_t d : c.input(1).as<int32_t>()) {
      const int axis = d < 0 ? d + rank : d;
      if (axis < 0 || axis >= rank) {
        return OutOfRange("Invalid reduction dimension {} for input with {} dimension(s)", d, rank);
      }
      if (is_reduced[static_cast<size_t>(axis)]) return InvalidArgument("Duplicate reduction dimension {}", d);
      is_reduced[static_cast<size_t>(axis)] = true;
      reduced[static_cast<size_t>(count++)] = axis;
    }
    std::array<int64_t, kMaxRank> stride{};
    for (int64_t i = rank - 1, step = 1; i >= 0; step *= in.dim(static_cast<int>(i)), --i) {
      stride[static_cast<size_t>(i)] = step;
    }
    Shape kept, shape;
    std::array<int64_t, kMaxRank> kept_stride{};
    int64_t joined = 1;
    for (int i = 0; i < rank; ++i) {
      if (is_reduced[static_cast<size_t>(i)]) {
        joined *= in.dim(i);
        if (keep_dims) shape.Append(1);
      } else {
        kept_stride[static_cast<size_t>(kept.rank())] = stride[static_cast<size_t>(i)];
        kept.Append(in.dim(i));
        shape.Append(in.dim(i));
      }
    }
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kString, shape));
    const StringCell* from = in.data<StringCell>();
    std::string text;
    int64_t index = 0;
    for (StringCell& to : out->mut<StringCell>()) {
      int64_t base = 0;
      for (int64_t i = kept.rank() - 1, rest = index++; i >= 0; --i) {
        base += rest % kept[static_cast<int>(i)] * kept_stride[static_cast<size_t>(i)];
        rest /= kept[static_cast<int>(i)];
      }
      text.clear();
      for (int64_t k = 0; k < joined; ++k) {
        int64_t at = base, rest = k;
        for (int i = 0; i < count; ++i) {
          const int axis = reduced[static_cast<size_t>(i)];
          at += rest % in.dim(axis) * stride[static_cast<size_t>(axis)];
          rest /= in.dim(axis);
        }
        if (k > 0) text += separator;
        text += from[at].view();
      }
      to.Assign(text);
    }
    return OkStatus();
  }
  bool keep_dims;
  std::string separator;
};

struct UnsortedSegmentJoin {
  explicit UnsortedSegmentJoin(AttrReader& a) : separator(a.String("separator")) {}
  Status Run(KernelCall& c) const {
    const Tensor &in = c.input(0), &ids = c.input(1), &count = c.input(2);
    if (count.rank() != 0) return InvalidArgument("Number of segments must be a scalar");
    int64_t space;
    TARE_ASSIGN_OR_RETURN(auto segments, IntValues(count, {&space, 1}));
    if (segments[0] < 0) return InvalidArgument("Number of segments must be non-negative but got {}", segments[0]);
    if (ids.rank() == 0) return InvalidArgument("Segment_id cannot have rank 0");
    if (ids.rank() > in.rank()) return InvalidArgument("Segment_id rank {} exceeds input rank {}", ids.rank(), in.rank());
    for (int i = 0; i < ids.rank(); ++i) {
      if (ids.dim(i) != in.dim(i)) {
        return InvalidArgument("Segment dimension is {} while input dimension is {} in rank {}", ids.dim(i), in.dim(i), i);
      }
    }
    std::vector<int64_t> dims = {segments[0]};
    dims.insert(dims.end(), in.shape().dims().begin() + ids.rank(), in.shape().dims().end());
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
    std::vector<int64_t> wide(ids.dtype() == DType::kInt32 ? static_cast<size_t>(ids.num_elements()) : 0);
    TARE_ASSIGN_OR_RETURN(auto segment, IntValues(ids, wide));
    for (int64_t id : segment) {
      if (id < 0 || id >= segments[0]) {
        return InvalidArgument("segment_ids are not allowed to exceed num_segments or to have negative values.");
      }
    }
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kString, shape));
    // Rows of each segment in order, by counting, so that each output is written once.
    std::vector<size_t> first(static_cast<size_t>(segments[0]) + 1), rows(segment.size());
    for (int64_t id : segment) ++first[static_cast<size_t>(id) + 1];
    for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    for (size_t i = 0; i < segment.size(); ++i) rows[first[static_cast<size_t>(segment[i])]++] = i;
    const auto width = static_cast<size_t>(shape.product(1, shape.rank()));
    const StringCell* from = in.data<StringCell>();
    StringCell* to = out->mutable_data<StringCell>();
    std::string text;
    for (size_t s = 0, begin = 0; s + 1 < first.size(); begin = first[s++]) {
      for (size_t j = 0; j < width && begin < first[s]; ++j) {
        text.clear();
        for (size_t r = begin; r < first[s]; ++r) {
          if (r > begin) text += separator;
          text += from[rows[r] * width + j].view();
        }
        to[s * width + j].Assign(text);
      }
    }
    return OkStatus();
  }
  std::string separator;
};

constexpr KernelRow kRows[] = {
    Op<ReduceJoin>("ReduceJoin"),
    Op<Join>("StringJoin"),
    Op<Length>("StringLength"),
    Op<ChangeCase<false>>("StringLower"),
    Op<Strip>("StringStrip"),
    Op<ChangeCase<true>>("StringUpper"),
    Op<Substr>("Substr"),
    Op<UnsortedSegmentJoin>("UnsortedSegmentJoin"),
};

}  // namespace
extern constinit const KernelFamily kStringKernels = kRows;
}  // namespace tare
