// Splitting strings into sparse rows of parts, and joining rows of tokens into n-grams.
#include <algorithm>

#include "kernels/registry.h"
#include "kernels/text.h"
#include "tensor/parse_number.h"

namespace tare {
namespace {

// Calls `emit` with each part of `s`. Any of the characters `delimiters` separates; none means every byte is a
// part of its own.
template <class F>
void SplitAny(std::string_view s, std::string_view delimiters, bool skip_empty, F emit) {
  if (s.empty()) return;
  if (delimiters.empty()) {
    for (size_t i = 0; i < s.size(); ++i) emit(s.substr(i, 1));
    return;
  }
  const bool one = delimiters.size() == 1;
  for (size_t begin = 0;;) {
    const size_t end = std::min(one ? s.find(delimiters[0], begin) : s.find_first_of(delimiters, begin), s.size());
    if (end > begin || !skip_empty) emit(s.substr(begin, end - begin));
    if (end == s.size()) return;
    begin = end + 1;
  }
}

// Runs of whitespace separate; at most `max_splits` are made (negative: any number), and the last part keeps
// its end.
template <class F>
void SplitSpace(std::string_view s, int64_t max_splits, F emit) {
  if (max_splits == 0) return emit(s);
  auto skip = [&](size_t at, bool space) {
    while (at < s.size() && IsSpace(s[at]) == space) ++at;
    return at;
  };
  size_t begin = skip(0, true);
  for (int64_t splits = 0; begin < s.size(); ++splits) {
    const size_t end = skip(begin, false);
    emit(s.substr(begin, end - begin));
    begin = skip(end, true);
    // TensorFlow gives the rest as a part even when nothing is left.
    if (splits + 1 == max_splits) return emit(s.substr(begin));
  }
}

template <class F>
void SplitWith(std::string_view s, std::string_view separator, int64_t max_splits, F emit) {
  for (int64_t splits = 0;; ++splits) {
    const size_t end = splits == max_splits ? s.npos : s.find(separator);
    emit(s.substr(0, end));
    if (end == s.npos) return;
    s.remove_prefix(end + separator.size());
  }
}

// The sparse outputs of `split(string, emit)` over the rows of input 0.
template <class F>
Status SplitRows(KernelCall& c, F split) {
  std::span<const StringCell> rows = c.input(0).as<StringCell>();
  std::vector<std::string_view> parts;
  std::vector<int64_t> ends;
  ends.reserve(rows.size());
  parts.reserve(rows.size());
  for (const StringCell& row : rows) {
    split(row.view(), [&](std::string_view part) { parts.push_back(part); });
    ends.push_back(static_cast<int64_t>(parts.size()));
  }
  const auto n = static_cast<int64_t>(parts.size());
  TARE_ASSIGN_OR_RETURN(Tensor* indices, c.Output(0, DType::kInt64, {n, 2}));
  TARE_ASSIGN_OR_RETURN(Tensor* values, c.Output(1, DType::kString, {n}));
  TARE_ASSIGN_OR_RETURN(Tensor* shape, c.Output(2, DType::kInt64, {2}));
  int64_t* index = indices->mutable_data<int64_t>();
  int64_t longest = 0, part = 0;
  for (size_t row = 0; row < ends.size(); ++row) {
    const int64_t begin = part;
    for (; part < ends[row]; ++part) {
      *index++ = static_cast<int64_t>(row);
      *index++ = part - begin;
    }
    longest = std::max(longest, part - begin);
  }
  StringCell* value = values->mutable_data<StringCell>();
  for (std::string_view p : parts) (value++)->Assign(p);
  shape->mutable_data<int64_t>()[0] = static_cast<int64_t>(rows.size());
  shape->mutable_data<int64_t>()[1] = longest;
  return OkStatus();
}

Status CheckSplit(KernelCall& c, std::string_view separator) {
  if (c.input(0).rank() != 1) {
    return InvalidArgument("input must be a vector, got shape: {}", c.input(0).shape().ToString());
  }
  if (c.input(1).rank() != 0) {
    return InvalidArgument("{} must be a scalar, got shape: {}", separator, c.input(1).shape().ToString());
  }
  return OkStatus();
}

struct Split {
  explicit Split(AttrReader& a) : skip_empty(a.Bool("skip_empty")) {}
  Status Run(KernelCall& c) const {
    TARE_RETURN_IF_ERROR(CheckSplit(c, "delimiter"));
    const std::string_view delimiters = c.input(1).scalar<StringCell>().view();
    return SplitRows(c, [&](std::string_view s, auto emit) { SplitAny(s, delimiters, skip_empty, emit); });
  }
  bool skip_empty;
};

struct SplitV2 {
  explicit SplitV2(AttrReader& a) : max_splits(a.Int("maxsplit")) {}
  Status Run(KernelCall& c) const {
    TARE_RETURN_IF_ERROR(CheckSplit(c, "sep"));
    const std::string_view separator = c.input(1).scalar<StringCell>().view();
    return SplitRows(c, [&](std::string_view s, auto emit) {
      if (separator.empty()) SplitSpace(s, max_splits, emit);
      else SplitWith(s, separator, max_splits, emit);
    });
  }
  int64_t max_splits;
};

// --- n-grams ---

struct NGrams {
  explicit NGrams(AttrReader& a)
      : separator(a.String("separator")), left_pad(a.String("left_pad")), right_pad(a.String("right_pad")),
        widths(a.Ints("ngram_widths")), pad_width(a.Int("pad_width")),
        keep_short(a.Bool("preserve_short_sequences")), splits_type(a.Type("Tsplits")) {
    for (int64_t w : widths) {
      // Far beyond any use, and keeps the counts from overflowing.
      if (w <= 0 || w > (int64_t{1} << 24)) a.Fail(InvalidArgument("ngram_widths must contain positive values"));
    }
  }

  Status Run(KernelCall& c) const {
    return splits_type == DType::kInt32 ? Make<int32_t>(c) : Make<int64_t>(c);
  }

  int64_t PadWidth(int64_t width) const { return std::min(pad_width < 0 ? width - 1 : pad_width, width - 1); }
  int64_t Count(int64_t length, int64_t width) const {
    return std::max<int64_t>(0, length + 2 * PadWidth(width) - width + 1);
  }
  // The width of the one n-gram a row too short for the others gives; 0 for none.
  int64_t ShortWidth(int64_t length, int64_t count) const {
    return keep_short && count == 0 && length > 0 && pad_width >= 0 ? length + 2 * pad_width : 0;
  }
  int64_t CountAll(int64_t length) const {
    int64_t n = 0;
    for (int64_t w : widths) n += Count(length, w);
    return n;
  }

  template <class T>
  Status Make(KernelCall& c) const {
    const Tensor& data = c.input(0);
    std::span<const T> splits = c.input(1).as<T>();
    if (splits.empty()) {
      // As TensorFlow has it: as many empty strings as there are tokens.
      TARE_RETURN_IF_ERROR(c.Output(0, DType::kString, data.shape()).status());
      return c.Output(1, splits_type, c.input(1).shape()).status();
    }
    TARE_RETURN_IF_ERROR(Check(splits, data.num_elements()));
    TARE_ASSIGN_OR_RETURN(Tensor* out_splits, c.Output(1, splits_type, c.input(1).shape()));
    T* ends = out_splits->mutable_data<T>();
    int64_t total = ends[0] = 0;
    for (size_t i = 1; i < splits.size(); ++i) {
      const int64_t length = splits[i] - splits[i - 1], n = CountAll(length);
      total += n + (ShortWidth(length, n) > 0);
      if (total > std::numeric_limits<T>::max()) return InvalidArgument("too many n-grams for their splits' type");
      ends[i] = static_cast<T>(total);
    }
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kString, Shape{total}));
    const StringCell* tokens = data.data<StringCell>();
    StringCell* to = out->mutable_data<StringCell>();
    std::string text;
    for (size_t i = 1; i < splits.size(); ++i) {
      const std::span<const StringCell> row(tokens + splits[i - 1], tokens + splits[i]);
      const auto length = static_cast<int64_t>(row.size());
      const StringCell* before = to;
      for (int64_t w : widths) {
        for (int64_t k = 0, n = Count(length, w); k < n; ++k) Append(row, k - PadWidth(w), w, &text, to++);
      }
      if (const int64_t w = ShortWidth(length, to - before)) Append(row, -pad_width, w, &text, to++);
    }
    return OkStatus();
  }

  // Tokens [begin, begin + width) of the row, where those outside it are pads.
  void Append(std::span<const StringCell> row, int64_t begin, int64_t width, std::string* text, StringCell* to) const {
    text->clear();
    for (int64_t k = begin; k < begin + width; ++k) {
      if (k > begin) *text += separator;
      if (k < 0) *text += left_pad;
      else if (k >= static_cast<int64_t>(row.size())) *text += right_pad;
      else *text += row[static_cast<size_t>(k)].view();
    }
    to->Assign(*text);
  }

  template <class T>
  static Status Check(std::span<const T> splits, int64_t tokens) {
    if (splits[0] != 0) return InvalidArgument("First split value must be 0, got {}", splits[0]);
    for (size_t i = 1; i < splits.size(); ++i) {
      if (splits[i] < splits[i - 1] || splits[i] > tokens) {
        return InvalidArgument("Invalid split value {}, must be in [{}, {}]", splits[i], splits[i - 1], tokens);
      }
    }
    if (splits.back() != tokens) {
      return InvalidArgument("Last split value must be data size. Expected {}, got {}", tokens, splits.back());
    }
    return OkStatus();
  }

  std::string separator, left_pad, right_pad;
  std::vector<int64_t> widths;
  int64_t pad_width;
  bool keep_short;
  DType splits_type;
};

constexpr KernelRow kRows[] = {
    Op<NGrams>("StringNGrams"),
    Op<Split>("StringSplit"),
    Op<SplitV2>("StringSplitV2"),
};

}  // namespace
extern constinit const KernelFamily kStringSplitKernels = kRows;
}  // namespace tare
