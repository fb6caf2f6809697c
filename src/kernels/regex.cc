// Regular expressions: RE2, as in TensorFlow. A static pattern is compiled once, with its kernel.
#include <re2/re2.h>

#include "kernels/registry.h"
#include "kernels/text.h"

namespace tare {
namespace {

re2::StringPiece Piece(std::string_view s) { return {s.data(), s.size()}; }

Result<std::unique_ptr<RE2>> Compile(std::string_view pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  auto re = std::make_unique<RE2>(Piece(pattern), options);
  if (!re->ok()) return InvalidArgument("Invalid pattern: {}, error: {}", pattern, re->error());
  return re;
}

Status Replace(KernelCall& c, const RE2& re, std::string_view rewrite, bool global) {
  return MapStrings(c, 500, [&](std::string_view s, std::string& scratch) -> std::string_view {
    // Most strings of most models have no match; they are not copied.
    if (!re.Match(Piece(s), 0, s.size(), RE2::UNANCHORED, nullptr, 0)) return s;
    scratch.assign(s);
    if (global) RE2::GlobalReplace(&scratch, re, Piece(rewrite));
    else RE2::Replace(&scratch, re, Piece(rewrite));
    return scratch;
  });
}

Status FullMatch(KernelCall& c, const RE2& re) {
  TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kBool, c.input(0).shape()));
  const StringCell* from = c.input(0).data<StringCell>();
  bool* to = out->mutable_data<bool>();
  c.threads().ParallelFor(out->num_elements(), 300, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = RE2::FullMatch(Piece(from[i].view()), re);
  });
  return OkStatus();
}

// The expression of an attribute.
struct StaticPattern {
  explicit StaticPattern(AttrReader& a) {
    auto compiled = Compile(a.String("pattern"));
    if (compiled.ok()) re = *std::move(compiled);
    else a.Fail(std::move(compiled).status());
  }
  std::unique_ptr<RE2> re;
};

struct StaticRegexReplace : StaticPattern {
  explicit StaticRegexReplace(AttrReader& a)
      : StaticPattern(a), rewrite(a.String("rewrite")), global(a.Bool("replace_global")) {}
  Status Run(KernelCall& c) const { return Replace(c, *re, rewrite, global); }
  std::string rewrite;
  bool global;
};

struct StaticRegexFullMatch : StaticPattern {
  using StaticPattern::StaticPattern;
  Status Run(KernelCall& c) const { return FullMatch(c, *re); }
};

Result<std::unique_ptr<RE2>> CompileInput(const Tensor& pattern) {
  if (pattern.rank() != 0) {
    return InvalidArgument("Pattern must be scalar, but received {}", pattern.shape().ToString());
  }
  return Compile(pattern.scalar<StringCell>().view());
}

struct RegexReplace {
  explicit RegexReplace(AttrReader& a) : global(a.Bool("replace_global")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(std::unique_ptr<RE2> re, CompileInput(c.input(1)));
    const Tensor& rewrite = c.input(2);
    if (rewrite.rank() != 0) {
      return InvalidArgument("Rewrite must be scalar, but received {}", rewrite.shape().ToString());
    }
    return Replace(c, *re, rewrite.scalar<StringCell>().view(), global);
  }
  bool global;
};

Status RegexFullMatch(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(std::unique_ptr<RE2> re, CompileInput(c.input(1)));
  return FullMatch(c, *re);
}

constexpr KernelRow kRows[] = {
    Op<RegexFullMatch>("RegexFullMatch"),
    Op<RegexReplace>("RegexReplace"),
    Op<StaticRegexFullMatch>("StaticRegexFullMatch"),
    Op<StaticRegexReplace>("StaticRegexReplace"),
};

}  // namespace
extern constinit const KernelFamily kRegexKernels = kRows;
}  // namespace tare
