// Matrix product for the element types that have no micro-kernel: double, integers, complex.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace tare::math {

// Element (r, c) at data[r * row + c * column].
template <class T>
struct StridedMatrix {
  const T* data;
  int64_t row, column;
};

// Integers wrap: they are multiplied as unsigned numbers of 32 or 64 bits.
template <class T>
struct SumOf {
  using type = T;
};
template <class T>
  requires std::is_integral_v<T>
struct SumOf<T> {
  using type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
};

// Rows [begin, end) of C[m,n] = A[m,k] * B[k,n], (+ C).
template <class T>
void GenericGemmRows(int64_t begin, int64_t end, int64_t n, int64_t k, StridedMatrix<T> a, StridedMatrix<T> b, T* c,
                     int64_t c_stride, bool accumulate = false) {
  using S = typename SumOf<T>::type;
  constexpr int64_t kWidth = 32;
  for (int64_t n0 = 0; n0 < n; n0 += kWidth) {
    const int64_t width = std::min(kWidth, n - n0);
    for (int64_t i = begin; i < end; ++i) {
      S sum[kWidth] = {};
      T* out = c + i * c_stride + n0;
      if (accumulate) std::copy_n(out, width, sum);
      for (int64_t p = 0; p < k; ++p) {
        const S x = static_cast<S>(a.data[i * a.row + p * a.column]);
        const T* row = b.data + p * b.row + n0 * b.column;
        if (b.column == 1 && width == kWidth) {
          for (int64_t j = 0; j < kWidth; ++j) sum[j] += x * static_cast<S>(row[j]);
        } else {
          for (int64_t j = 0; j < width; ++j) sum[j] += x * static_cast<S>(row[j * b.column]);
        }
      }
      for (int64_t j = 0; j < width; ++j) out[j] = static_cast<T>(sum[j]);
    }
  }
}

}  // namespace tare::math
