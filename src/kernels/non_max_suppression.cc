// Selecting boxes by score, leaving out those that overlap a box selected before: NonMaxSuppression
// and its versions.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "kernels/registry.h"

namespace tare {
namespace {

// A box by the corners nearest to and farthest from the origin.
struct Box {
  float y0, x0, y1, x1;
  float area() const { return (y1 - y0) * (x1 - x0); }
};

// Intersection over union; 0 for a box without area.
float Overlap(const Box& a, const Box& b) {
  const float area_a = a.area(), area_b = b.area();
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::max(std::min(a.y1, b.y1) - std::max(a.y0, b.y0), 0.0f);
  const float width = std::max(std::min(a.x1, b.x1) - std::max(a.x0, b.x0), 0.0f);
  const float common = height * width;
  return common / (area_a + area_b - common);
}

// What an op selects by.
struct Limits {
  int64_t count;                                       // at most
  float overlap;                                       // more is too much
  float score = std::numeric_limits<float>::lowest();  // must be exceeded
  float sigma =
      0;  // not 0: an overlap lowers a score by a Gaussian (Bodla et al. 2017) and never excludes
};

// A box that may yet be selected.
struct Candidate {
  float score;
  int32_t box;
  size_t compared = 0;  // with how many of the selected it was
  // Of equal scores, the box that comes first is selected first.
  bool operator<(const Candidate& o) const {
    return score != o.score ? score < o.score : box > o.box;
  }
};

// The selected boxes in order. overlap(box, box) is asked for at most candidates times selected.
template <class F>
std::vector<Candidate> Select(std::span<const float> scores, const Limits& limits,
                              const F& overlap) {
  std::vector<Candidate> left, selected;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > limits.score) left.push_back({scores[i], static_cast<int32_t>(i)});
  }
  std::make_heap(left.begin(), left.end());
  const float scale = limits.sigma > 0 ? -0.5f / limits.sigma : 0;
  while (!left.empty() && static_cast<int64_t>(selected.size()) < limits.count) {
    std::pop_heap(left.begin(), left.end());
    Candidate next = left.back();
    left.pop_back();
    const float before = next.score;
    bool excluded = false;
    // The latest selected are the likeliest to overlap.
    for (size_t i = selected.size(); i-- > next.compared && !excluded;) {
      const float o = overlap(next.box, selected[i].box);
      if (limits.sigma > 0) next.score *= std::exp(scale * o * o);
      excluded = limits.sigma > 0 ? next.score <= limits.score : o > limits.overlap;
    }
    if (excluded) continue;
    next.compared = selected.size();
    if (next.score == before) {
      selected.push_back(next);
    } else if (next.score > limits.score) {
      left.push_back(next);
      std::push_heap(left.begin(), left.end());
    }
  }
  return selected;
}

Result<float> ScalarFloat(const Tensor& t, std::string_view name) {
  if (t.rank() != 0)
    return InvalidArgument("{} must be 0-D, got shape {}", name, t.shape().ToString());
  return t.dtype() == DType::kHalf ? static_cast<float>(t.scalar<Half>()) : t.scalar<float>();
}

std::vector<float> Floats(const Tensor& t) {
  std::vector<float> values(static_cast<size_t>(t.num_elements()));
  if (t.dtype() == DType::kHalf)
    std::ranges::copy(t.as<Half>(), values.begin());
  else
    std::ranges::copy(t.as<float>(), values.begin());
  return values;
}

Result<int64_t> MaxOutputSize(const Tensor& t) {
  if (t.rank() != 0)
    return InvalidArgument("max_output_size must be 0-D, got shape {}", t.shape().ToString());
  const int32_t count = t.scalar<int32_t>();
  if (count < 0) return InvalidArgument("output size must be non-negative");
  return count;
}

// Boxes' corners come in any order.
Result<std::vector<Box>> ReadBoxes(const Tensor& boxes, const Tensor& scores) {
  if (boxes.rank() != 2)
    return InvalidArgument("boxes must be 2-D, got shape {}", boxes.shape().ToString());
  if (boxes.dim(1) != 4) return InvalidArgument("boxes must have 4 columns");
  if (scores.rank() != 1)
    return InvalidArgument("scores must be 1-D, got shape {}", scores.shape().ToString());
  if (scores.dim(0) != boxes.dim(0)) return InvalidArgument("scores has incompatible shape");
  if (boxes.dim(0) > INT32_MAX) return InvalidArgument("too many boxes: {}", boxes.dim(0));
  const std::vector<float> corners = Floats(boxes);
  std::vector<Box> out;
  out.reserve(corners.size() / 4);
  for (size_t i = 0; i < corners.size(); i += 4) {
    const auto [y0, y1] = std::minmax(corners[i], corners[i + 2]);
    const auto [x0, x1] = std::minmax(corners[i + 1], corners[i + 3]);
    out.push_back({y0, x0, y1, x1});
  }
  return out;
}

Result<std::vector<Candidate>> SelectBoxes(const KernelCall& c, const Limits& limits) {
  if (!(limits.overlap >= 0 && limits.overlap <= 1))
    return InvalidArgument("iou_threshold must be in [0, 1]");
  TARE_ASSIGN_OR_RETURN(const std::vector<Box> boxes, ReadBoxes(c.input(0), c.input(1)));
  return Select(Floats(c.input(1)), limits, [&](int32_t a, int32_t b) {
    return Overlap(boxes[static_cast<size_t>(a)], boxes[static_cast<size_t>(b)]);
  });
}

// Output 0: indices, zeros after them up to `size`.
Status SetIndices(KernelCall& c, const std::vector<Candidate>& selected, int64_t size) {
  TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::array{size}));
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(0, DType::kInt32, shape));
  int32_t* end =
      std::ranges::transform(selected, out->mutable_data<int32_t>(), &Candidate::box).out;
  std::fill(end, out->mutable_data<int32_t>() + size, 0);
  return OkStatus();
}

Status SetIndices(KernelCall& c, const std::vector<Candidate>& selected) {
  return SetIndices(c, selected, static_cast<int64_t>(selected.size()));
}

Status SetCount(KernelCall& c, int i, size_t count) {
  TARE_ASSIGN_OR_RETURN(Tensor * out, c.Output(i, DType::kInt32, Shape()));
  *out->mutable_data<int32_t>() = static_cast<int32_t>(count);
  return OkStatus();
}

struct NonMaxSuppression {
  explicit NonMaxSuppression(AttrReader& a) : overlap(a.Float("iou_threshold")) {
    if (!(overlap >= 0 && overlap <= 1)) a.Fail(InvalidArgument("iou_threshold must be in [0, 1]"));
  }
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(int64_t count, MaxOutputSize(c.input(2)));
    TARE_ASSIGN_OR_RETURN(const auto selected,
                          SelectBoxes(c, {.count = count, .overlap = overlap}));
    return SetIndices(c, selected);
  }
  float overlap;
};

Status NonMaxSuppressionV2(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(int64_t count, MaxOutputSize(c.input(2)));
  TARE_ASSIGN_OR_RETURN(float overlap, ScalarFloat(c.input(3), "iou_threshold"));
  TARE_ASSIGN_OR_RETURN(const auto selected, SelectBoxes(c, {.count = count, .overlap = overlap}));
  return SetIndices(c, selected);
}

Result<Limits> ReadLimits(const KernelCall& c, std::string_view overlap_name) {
  Limits limits;
  TARE_ASSIGN_OR_RETURN(limits.count, MaxOutputSize(c.input(2)));
  TARE_ASSIGN_OR_RETURN(limits.overlap, ScalarFloat(c.input(3), overlap_name));
  TARE_ASSIGN_OR_RETURN(limits.score, ScalarFloat(c.input(4), "score_threshold"));
  return limits;
}

Status NonMaxSuppressionV3(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Limits limits, ReadLimits(c, "iou_threshold"));
  TARE_ASSIGN_OR_RETURN(const auto selected, SelectBoxes(c, limits));
  return SetIndices(c, selected);
}

struct NonMaxSuppressionV4 {
  explicit NonMaxSuppressionV4(AttrReader& a) : pad(a.Bool("pad_to_max_output_size")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Limits limits, ReadLimits(c, "iou_threshold"));
    TARE_ASSIGN_OR_RETURN(const auto selected, SelectBoxes(c, limits));
    TARE_RETURN_IF_ERROR(
        SetIndices(c, selected, pad ? limits.count : static_cast<int64_t>(selected.size())));
    return SetCount(c, 1, selected.size());
  }
  bool pad;
};

struct NonMaxSuppressionV5 {
  explicit NonMaxSuppressionV5(AttrReader& a) : pad(a.Bool("pad_to_max_output_size")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Limits limits, ReadLimits(c, "iou_threshold"));
    TARE_ASSIGN_OR_RETURN(limits.sigma, ScalarFloat(c.input(5), "soft_nms_sigma"));
    if (!(limits.sigma >= 0)) return InvalidArgument("soft_nms_sigma must be non-negative");
    TARE_ASSIGN_OR_RETURN(const auto selected, SelectBoxes(c, limits));
    const int64_t size = pad ? limits.count : static_cast<int64_t>(selected.size());
    TARE_RETURN_IF_ERROR(SetIndices(c, selected, size));
    TARE_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::array{size}));
    TARE_ASSIGN_OR_RETURN(Tensor * scores, c.Output(1, c.input(1).dtype(), shape));
    TARE_RETURN_IF_ERROR(ForType(Types<float, Half>{}, scores->dtype(), [&]<class T>() {
      T* to = scores->mutable_data<T>();
      for (const Candidate& s : selected) *to++ = static_cast<T>(s.score);
      std::fill(to, scores->mutable_data<T>() + size, T(0.0f));
      return OkStatus();
    }));
    return SetCount(c, 2, selected.size());
  }
  bool pad;
};

// Overlaps are given: [boxes, boxes].
Status NonMaxSuppressionWithOverlaps(KernelCall& c) {
  const Tensor &overlaps = c.input(0), &scores = c.input(1);
  TARE_ASSIGN_OR_RETURN(Limits limits, ReadLimits(c, "overlap_threshold"));
  if (overlaps.rank() != 2)
    return InvalidArgument("overlaps must be 2-D, got shape {}", overlaps.shape().ToString());
  if (overlaps.dim(0) != overlaps.dim(1)) return InvalidArgument("overlaps must be square");
  if (scores.rank() != 1)
    return InvalidArgument("scores must be 1-D, got shape {}", scores.shape().ToString());
  if (scores.dim(0) != overlaps.dim(0)) return InvalidArgument("scores has incompatible shape");
  const float* rows = overlaps.data<float>();
  const auto selected = Select(scores.as<float>(), limits, [&](int32_t a, int32_t b) {
    return rows[int64_t{a} * overlaps.dim(1) + b];
  });
  return SetIndices(c, selected);
}

constexpr KernelRow kRows[] = {
    Op<NonMaxSuppression>("NonMaxSuppression"),
    Op<NonMaxSuppressionV2>("NonMaxSuppressionV2"),
    Op<NonMaxSuppressionV3>("NonMaxSuppressionV3"),
    Op<NonMaxSuppressionV4>("NonMaxSuppressionV4"),
    Op<NonMaxSuppressionV5>("NonMaxSuppressionV5"),
    Op<NonMaxSuppressionWithOverlaps>("NonMaxSuppressionWithOverlaps"),
};

}  // namespace
extern constinit const KernelFamily kNonMaxSuppressionKernels = kRows;
}  // namespace tare
