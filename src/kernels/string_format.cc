// StringFormat: tensors as text put into a template.
#include "kernels/registry.h"
#include "kernels/summarize.h"

namespace tare {
namespace {

struct StringFormat {
  explicit StringFormat(AttrReader& a) : summarize(a.Int("summarize")) {
    const std::string text = a.String("template"), placeholder = a.String("placeholder");
    for (size_t begin = 0;;) {
      const size_t end = placeholder.empty() ? text.npos : text.find(placeholder, begin);
      pieces.push_back(text.substr(begin, end - begin));
      if (end == text.npos) break;
      begin = end + placeholder.size();
    }
    const size_t inputs = a.TypeList("T").size();
    if (pieces.size() != inputs + 1) {
      a.Fail(InvalidArgument("num placeholders in template and num inputs must match: {} vs. {}", pieces.size() - 1,
                             inputs));
    }
  }
  Status Run(KernelCall& c) const {
    std::string text = pieces[0];
    for (int i = 0; i < c.num_inputs(); ++i) {
      text += Summarize(c.input(i), summarize);
      text += pieces[static_cast<size_t>(i) + 1];
    }
    TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kString, {}));
    out->mutable_data<StringCell>()->Assign(text);
    return OkStatus();
  }
  std::vector<std::string> pieces;  // between placeholders
  int64_t summarize;
};

constexpr KernelRow kRows[] = {Op<StringFormat>("StringFormat")};

}  // namespace
extern constinit const KernelFamily kStringFormatKernels = kRows;
}  // namespace tare
