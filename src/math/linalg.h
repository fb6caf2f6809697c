// Small dense linear algebra on row-major matrices: factorisations and what follows from them. Plain,
// accurate algorithms for the sizes models carry: LU and Cholesky, Householder QR, Jacobi rotations for
// eigenvalues and singular values. T is float, double or a complex of them.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace tare::math {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;

template <class T>
T Conj(T x) {
  if constexpr (std::is_same_v<T, Real<T>>) return x;
  else return std::conj(x);
}
template <class T>
Real<T> RealPart(T x) {
  return std::real(x);
}

// to[n,m] = the conjugate transpose of from[m,n].
template <class T>
void Adjoint(const T* from, int64_t m, int64_t n, T* to) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) to[j * m + i] = Conj(from[i * n + j]);
  }
}

// A = P L U in place, rows exchanged by partial pivoting: row i came from rows[i]. `odd` tells an odd number of
// exchanges. False when a pivot is exactly zero; the rest is factored all the same.
template <class T>
bool FactorLu(T* a, int64_t n, std::vector<int64_t>& rows, bool& odd) {
  bool regular = true;
  odd = false;
  rows.resize(static_cast<size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
    }
    if (best != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + best * n);
      std::swap(rows[static_cast<size_t>(k)], rows[static_cast<size_t>(best)]);
      odd = !odd;
    }
    const T pivot = a[k * n + k];
    if (pivot == T(0)) {
      regular = false;
      continue;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      const T f = a[i * n + k] /= pivot;
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= f * a[k * n + j];
    }
  }
  return regular;
}

// B[n,m] := inverse of the triangular A[n,n] times B. With `adjoint`, of A's conjugate transpose.
template <class T>
void SolveTriangular(const T* a, int64_t n, T* b, int64_t m, bool lower, bool adjoint, bool unit_diagonal = false) {
  const bool forward = lower != adjoint;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    T* row = b + i * m;
    for (int64_t k = forward ? 0 : i + 1; k < (forward ? i : n); ++k) {
      const T f = adjoint ? Conj(a[k * n + i]) : a[i * n + k];
      for (int64_t j = 0; j < m; ++j) row[j] -= f * b[k * m + j];
    }
    if (unit_diagonal) continue;
    const T d = adjoint ? Conj(a[i * n + i]) : a[i * n + i];
    for (int64_t j = 0; j < m; ++j) row[j] /= d;
  }
}

// x[n,m] = inverse(A) b, of A's factors.
template <class T>
void SolveLu(const T* lu, const std::vector<int64_t>& rows, int64_t n, const T* b, int64_t m, T* x) {
  for (int64_t i = 0; i < n; ++i) std::copy_n(b + rows[static_cast<size_t>(i)] * m, m, x + i * m);
  SolveTriangular(lu, n, x, m, true, false, true);
  SolveTriangular(lu, n, x, m, false, false);
}

// The lower factor of a Hermitian positive definite matrix, of which the lower half is read. Zeros above.
// False when it is not positive definite.
template <class T>
bool FactorCholesky(T* a, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    Real<T> d = RealPart(a[j * n + j]);
    for (int64_t k = 0; k < j; ++k) d -= std::norm(a[j * n + k]);
    if (!(d > 0)) return false;
    d = std::sqrt(d);
    a[j * n + j] = d;
    for (int64_t i = j + 1; i < n; ++i) {
      T s = a[i * n + j];
      for (int64_t k = 0; k < j; ++k) s -= a[i * n + k] * Conj(a[j * n + k]);
      a[i * n + j] = s / d;
    }
    std::fill(a + j * n + j + 1, a + (j + 1) * n, T(0));
  }
  return true;
}

// A[m,n] = Q[m,q] R[q,n] by Householder reflections, with LAPACK's signs. `a` becomes R below zeros (m rows);
// q is m x columns, columns <= m.
template <class T>
void FactorQr(T* a, int64_t m, int64_t n, T* q, int64_t columns) {
  const int64_t steps = std::min(m, n);
  std::vector<T> v(static_cast<size_t>(m * steps), T(0)), tau(static_cast<size_t>(steps), T(0));
  auto reflect = [&](int64_t k, bool adjoint, T* x, int64_t width, int64_t from) {
    const T* w = v.data() + k * m;
    for (int64_t j = from; j < width; ++j) {
      T s(0);
      for (int64_t i = k; i < m; ++i) s += Conj(w[i]) * x[i * width + j];
      s *= adjoint ? Conj(tau[static_cast<size_t>(k)]) : tau[static_cast<size_t>(k)];
      for (int64_t i = k; i < m; ++i) x[i * width + j] -= s * w[i];
    }
  };
  for (int64_t k = 0; k < steps; ++k) {
    const T head = a[k * n + k];
    Real<T> tail = 0;
    for (int64_t i = k + 1; i < m; ++i) tail += std::norm(a[i * n + k]);
    T* w = v.data() + k * m;
    w[k] = T(1);
    if (tail == 0 && std::imag(head) == 0) continue;
    const Real<T> norm = std::sqrt(std::norm(head) + tail), beta = RealPart(head) >= 0 ? -norm : norm;
    for (int64_t i = k + 1; i < m; ++i) w[i] = a[i * n + k] / (head - T(beta));
    tau[static_cast<size_t>(k)] = (T(beta) - head) / T(beta);
    reflect(k, true, a, n, k);
    for (int64_t i = k + 1; i < m; ++i) a[i * n + k] = T(0);
  }
  std::fill_n(q, m * columns, T(0));
  for (int64_t i = 0; i < columns; ++i) q[i * columns + i] = T(1);
  for (int64_t k = steps - 1; k >= 0; --k) reflect(k, false, q, columns, 0);
}

// The rotation that makes the 2 x 2 Hermitian matrix [[a, c], [conj c, b]] diagonal: columns p and q become
// (cosine p - conj(sine) q, sine p + cosine q).
template <class T>
struct Rotation {
  Real<T> cosine;
  T sine;
  static Rotation Diagonalising(Real<T> a, Real<T> b, T c) {
    const Real<T> size = std::abs(c);
    const Real<T> zeta = (b - a) / (2 * size);
    const Real<T> t = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
    const Real<T> cosine = 1 / std::sqrt(1 + t * t);
    return {cosine, T(cosine * t) * (c / size)};
  }
  void Turn(T& p, T& q) const {
    const T x = p;
    p = cosine * x - Conj(sine) * q;
    q = sine * x + cosine * q;
  }
};

constexpr int kMaxSweeps = 60;

// Eigenvalues, ascending, and orthonormal eigenvectors (columns of v) of a Hermitian matrix whose lower half is
// read. `a` is used up. `v` may be null.
template <class T>
void EigenHermitian(T* a, int64_t n, Real<T>* values, T* v) {
  using R = Real<T>;
  for (int64_t i = 0; i < n; ++i) {
    a[i * n + i] = RealPart(a[i * n + i]);
    for (int64_t j = i + 1; j < n; ++j) a[i * n + j] = Conj(a[j * n + i]);
  }
  std::vector<T> w(static_cast<size_t>(v ? n * n : 0), T(0));
  for (int64_t i = 0; v && i < n; ++i) w[static_cast<size_t>(i * n + i)] = T(1);
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool turned = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const T c = a[p * n + q];
        const R d = std::abs(RealPart(a[p * n + p])) + std::abs(RealPart(a[q * n + q]));
        if (!(std::abs(c) > std::numeric_limits<R>::epsilon() * d / 4) || std::abs(c) < std::numeric_limits<R>::min()) continue;
        turned = true;
        const auto r = Rotation<T>::Diagonalising(RealPart(a[p * n + p]), RealPart(a[q * n + q]), c);
        for (int64_t i = 0; i < n; ++i) r.Turn(a[i * n + p], a[i * n + q]);
        const Rotation<T> left{r.cosine, Conj(r.sine)};
        for (int64_t i = 0; i < n; ++i) left.Turn(a[p * n + i], a[q * n + i]);
        a[p * n + q] = a[q * n + p] = T(0);
        for (int64_t i = 0; v && i < n; ++i) r.Turn(w[static_cast<size_t>(i * n + p)], w[static_cast<size_t>(i * n + q)]);
      }
    }
    if (!turned) break;
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t i, int64_t j) { return RealPart(a[i * n + i]) < RealPart(a[j * n + j]); });
  for (int64_t k = 0; k < n; ++k) {
    const int64_t from = order[static_cast<size_t>(k)];
    values[k] = RealPart(a[from * n + from]);
    for (int64_t i = 0; v && i < n; ++i) v[i * n + k] = w[static_cast<size_t>(i * n + from)];
  }
}

// Fills columns [have, want) of u[m, stride] so that all are orthonormal.
template <class T>
void CompleteBasis(T* u, int64_t m, int64_t stride, int64_t have, int64_t want) {
  for (int64_t k = have, unit = 0; k < want && unit < m; ++unit) {
    std::vector<T> x(static_cast<size_t>(m), T(0));
    x[static_cast<size_t>(unit)] = T(1);
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t j = 0; j < k; ++j) {
        T s(0);
        for (int64_t i = 0; i < m; ++i) s += Conj(u[i * stride + j]) * x[static_cast<size_t>(i)];
        for (int64_t i = 0; i < m; ++i) x[static_cast<size_t>(i)] -= s * u[i * stride + j];
      }
    }
    Real<T> norm = 0;
    for (T e : x) norm += std::norm(e);
    norm = std::sqrt(norm);
    // Some unit vector left has at least this much outside the space of the k columns.
    if (norm < Real<T>(0.5) / std::sqrt(static_cast<Real<T>>(m))) continue;
    for (int64_t i = 0; i < m; ++i) u[i * stride + k] = x[static_cast<size_t>(i)] / norm;
    ++k;
  }
}

// A[m,n] = U diag(s) V^H for m >= n, s descending. `a` is used up. u is [m, u_columns] (n or m), v is [n, n]; both
// may be null together.
template <class T>
void SingularValues(T* a, int64_t m, int64_t n, Real<T>* s, T* u, int64_t u_columns, T* v) {
  using R = Real<T>;
  std::vector<T> w(static_cast<size_t>(n * n), T(0));
  for (int64_t i = 0; i < n; ++i) w[static_cast<size_t>(i * n + i)] = T(1);
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool turned = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        R x = 0, y = 0;
        T c(0);
        for (int64_t i = 0; i < m; ++i) {
          x += std::norm(a[i * n + p]);
          y += std::norm(a[i * n + q]);
          c += Conj(a[i * n + p]) * a[i * n + q];
        }
        if (!(std::abs(c) > std::numeric_limits<R>::epsilon() * std::sqrt(x * y)) || std::abs(c) < std::numeric_limits<R>::min()) continue;
        turned = true;
        const auto r = Rotation<T>::Diagonalising(x, y, c);
        for (int64_t i = 0; i < m; ++i) r.Turn(a[i * n + p], a[i * n + q]);
        for (int64_t i = 0; i < n; ++i) r.Turn(w[static_cast<size_t>(i * n + p)], w[static_cast<size_t>(i * n + q)]);
      }
    }
    if (!turned) break;
  }
  std::vector<R> norms(static_cast<size_t>(n), 0);
  for (int64_t i = 0; i < m * n; ++i) norms[static_cast<size_t>(i % n)] += std::norm(a[i]);
  for (R& x : norms) x = std::sqrt(x);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t i, int64_t j) { return norms[static_cast<size_t>(i)] > norms[static_cast<size_t>(j)]; });
  int64_t rank = 0;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t from = order[static_cast<size_t>(k)];
    s[k] = norms[static_cast<size_t>(from)];
    if (!u) continue;
    for (int64_t i = 0; i < n; ++i) v[i * n + k] = w[static_cast<size_t>(i * n + from)];
    // Directions that belong to vanishing values are noise: they are made anew below.
    if (rank == k && s[k] > s[0] * std::numeric_limits<R>::epsilon() * static_cast<R>(m)) {
      for (int64_t i = 0; i < m; ++i) u[i * u_columns + k] = a[i * n + from] / s[k];
      ++rank;
    }
  }
  if (u) CompleteBasis(u, m, u_columns, rank, u_columns);
}

}  // namespace tare::math
