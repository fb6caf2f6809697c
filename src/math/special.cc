#include "math/special.h"

#include <math.h>

#include <cmath>
#include <limits>

namespace tare::math {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kPi = 3.14159265358979323846;
constexpr double kTwoBySqrtPi = 1.12837916709551257390;
constexpr double kSqrt2 = 1.41421356237309504880;

// Winitzki's elementary approximation of the inverse of erf, good to 2e-3: Newton starts here.
// `log_gap` is log(1 - erf^2).
double RoughErfinv(double log_gap) {
  constexpr double kA = 0.147;
  double t = 2 / (kPi * kA) + log_gap / 2;
  return std::sqrt(std::sqrt(t * t - log_gap / kA) - t);
}

// One step of Halley's method on erf, from an excess of erf over the wanted value.
double ErfStep(double z, double excess) {
  double u = excess / (kTwoBySqrtPi * std::exp(-z * z));
  return z - u / (1 + z * u);
}

}  // namespace

double Lgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

double Digamma(double x) {
  if (std::isnan(x) || x == -kInf) return kNan;
  if (x == kInf) return kInf;
  double reflected = 0;
  if (x <= 0) {
    if (x == std::floor(x)) return kNan;
    reflected = kPi / std::tan(kPi * x);
    x = 1 - x;
  }
  double shift = 0;
  for (; x < 10; x += 1) shift += 1 / x;
  // Asymptotic series with Bernoulli numbers.
  double s = 1 / (x * x);
  double tail = s * (1. / 12 - s * (1. / 120 - s * (1. / 252 - s * (1. / 240 - s * (1. / 132 - s * (691. / 32760 -
                s / 12))))));
  return std::log(x) - 0.5 / x - tail - shift - reflected;
}

double Erfinv(double x) {
  double y = std::fabs(x);
  if (!(y < 1)) return y == 1 ? std::copysign(kInf, x) : kNan;
  if (y >= 0.5) return std::copysign(Erfcinv(1 - y), x);
  double z = RoughErfinv(std::log1p(-y * y));
  if (y < 1e-4) z = y / kTwoBySqrtPi;
  for (int i = 0; i < 3; ++i) z = ErfStep(z, std::erf(z) - y);
  return std::copysign(z, x);
}

double Erfcinv(double q) {
  if (!(q > 0 && q < 2)) return q == 0 ? kInf : q == 2 ? -kInf : kNan;
  if (q > 1) return -Erfcinv(2 - q);
  if (q > 0.5) return Erfinv(1 - q);
  double z = RoughErfinv(std::log(q * (2 - q)));
  for (int i = 0; i < 3; ++i) z = ErfStep(z, q - std::erfc(z));
  return z;
}

double Ndtri(double p) { return -kSqrt2 * Erfcinv(2 * p); }

double BesselIScaled(int order, double x) {
  double a = std::fabs(x), sum = 1, term = 1;
  double sign = order == 1 && x < 0 ? -1 : 1;
  if (a < 20) {
    double quarter = a * a / 4;
    for (int k = 1; term > sum * kEps; ++k) sum += term *= quarter / (k * (k + order));
    return sign * sum * (order ? a / 2 : 1) * std::exp(-a);
  }
  if (a == kInf) return 0;
  double mu = 4. * order * order;
  for (int k = 1; k < 40 && std::fabs(term) > kEps; ++k) {
    sum += term *= -(mu - (2. * k - 1) * (2. * k - 1)) / (k * 8 * a);
  }
  return sign * sum / std::sqrt(2 * kPi * a);
}

double BesselI(int order, double x) {
  double a = std::fabs(x), scaled = BesselIScaled(order, x);
  if (a == kInf) return order ? x : kInf;
  // In two factors: the exponential overflows before the product does.
  return scaled * std::exp(a / 2) * std::exp(a / 2);
}

double BesselKScaled(int order, double x) {
  if (!(x > 0)) return x == 0 ? kInf : kNan;
  if (x < 40) return std::cyl_bessel_k(order, x) * std::exp(x);
  double mu = 4. * order * order, sum = 1, term = 1;
  for (int k = 1; k < 60 && std::fabs(term) > kEps; ++k) {
    sum += term *= (mu - (2. * k - 1) * (2. * k - 1)) / (k * 8 * x);
  }
  return sum * std::sqrt(kPi / (2 * x));
}

double BesselK(int order, double x) {
  if (x > 0 && x < 40) return std::cyl_bessel_k(order, x);
  return BesselKScaled(order, x) * std::exp(-x);
}

namespace {

constexpr int kMaxTerms = 20000;

// x^a e^-x / Gamma(a), the factor of both expansions.
double GammaFactor(double a, double x) { return std::exp(a * std::log(x) - x - Lgamma(a)); }

double IgammaSeries(double a, double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < kMaxTerms && term > sum * kEps; ++k) sum += term *= x / (a + k);
  return sum * GammaFactor(a, x) / a;
}

// Lentz's method on Legendre's continued fraction.
double IgammacFraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int i = 1; i < kMaxTerms; ++i) {
    double an = -i * (i - a);
    b += 2;
    d = an * d + b;
    d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
    c = b + an / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    double step = c * d;
    h *= step;
    if (std::fabs(step - 1) < kEps) break;
  }
  return h * GammaFactor(a, x);
}

}  // namespace

double Igamma(double a, double x) {
  if (!(a > 0 && x >= 0)) return kNan;
  if (x == 0 || a == kInf) return a == kInf && x == kInf ? kNan : 0;
  if (x == kInf) return 1;
  return x > 1 && x > a ? 1 - IgammacFraction(a, x) : IgammaSeries(a, x);
}

double Igammac(double a, double x) {
  if (!(a > 0 && x >= 0)) return kNan;
  if (x == 0 || a == kInf) return a == kInf && x == kInf ? kNan : 1;
  if (x == kInf) return 0;
  return x < 1 || x < a ? 1 - IgammaSeries(a, x) : IgammacFraction(a, x);
}

namespace {

double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  auto guarded = [](double v) { return std::fabs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / guarded(1 - (a + b) * x / (a + 1)), h = d;
  for (int m = 1; m < kMaxTerms; ++m) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guarded(1 + even * d);
    c = guarded(1 + even / c);
    h *= d * c;
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guarded(1 + odd * d);
    c = guarded(1 + odd / c);
    double step = d * c;
    h *= step;
    if (std::fabs(step - 1) < kEps) break;
  }
  return h;
}

}  // namespace

double Betainc(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1)) return kNan;
  if (x == 0 || x == 1) return x;
  double factor = std::exp(Lgamma(a + b) - Lgamma(a) - Lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return factor * BetaFraction(a, b, x) / a;
  return 1 - factor * BetaFraction(b, a, 1 - x) / b;
}

double Zeta(double x, double q) {
  if (x == 1) return kInf;
  if (!(x > 1) || std::isnan(q)) return kNan;
  if (q <= 0) {
    if (q == std::floor(q)) return kInf;
    if (x != std::floor(x)) return kNan;
    // Terms left of zero one by one would be as many as q is far from it.
    if (q < -kMaxTerms) return kNan;
  }
  double sum = 0;
  for (; q < 12; q += 1) {
    double term = std::pow(q, -x);
    sum += term;
    if (q > 0 && term < sum * kEps) return sum;
  }
  // Euler and Maclaurin's formula from q on: B(2k) / (2k)!.
  constexpr double kCoefficients[] = {1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160,
                                      -691. / 1307674368000., 1. / 74724249600., -3617. / 10670622842880000.};
  double power = std::pow(q, -x);
  sum += power * q / (x - 1) + power / 2;
  double rising = x, scale = power / q;
  for (int k = 0; k < 8; ++k) {
    sum += kCoefficients[k] * rising * scale;
    rising *= (x + 2 * k + 1) * (x + 2 * k + 2);
    scale /= q * q;
  }
  return sum;
}

double Polygamma(double n, double x) {
  if (!(n >= 0) || n != std::floor(n)) return kNan;
  if (n == 0) return Digamma(x);
  double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  return sign * std::tgamma(n + 1) * Zeta(n + 1, x);
}

// Rybicki's sampling of the integral.
double Dawson(double x) {
  constexpr double kStep = 0.2;
  if (std::isnan(x)) return x;
  double a = std::fabs(x);
  if (a > 1e3) return 0.5 / x * (1 + 0.5 / (x * x));
  if (a < 0.2) {
    double term = x, sum = x;
    for (int k = 1; k < 16; ++k) sum += term *= -2 * x * x / (2 * k + 1);
    return sum;
  }
  int n0 = 2 * static_cast<int>(0.5 * a / kStep + 0.5);
  double rest = a - n0 * kStep, sum = 0;
  for (int n = -61; n <= 61; n += 2) {
    double d = rest - n * kStep;
    sum += std::exp(-d * d) / (n + n0);
  }
  return std::copysign(sum / std::sqrt(kPi), x);
}

double ExpIntegral(double x) {
  if (!(x >= 0)) return kNan;
  return x == 0 ? -kInf : std::expint(x);
}

double Spence(double x) {
  if (!(x >= 0)) return kNan;
  if (x == 0) return kPi * kPi / 6;
  if (x == kInf) return -kInf;
  // Li2(1 - x), with the argument brought into [-1, 1/2], where the series converges fast.
  double log_x = std::log(x);
  if (x > 2) return -Spence(1 / x) - log_x * log_x / 2;
  if (x < 0.5) return kPi * kPi / 6 - log_x * std::log1p(-x) - Spence(1 - x);
  // In u = -log x the series has Bernoulli numbers.
  double u = -log_x, u2 = u * u;
  constexpr double kTerms[] = {1. / 36, -1. / 3600, 1. / 211680, -1. / 10886400, 1. / 526901760,
                               -4.0647616451442255e-11, 8.9216910204564526e-13, -1.9939295860721076e-14};
  double sum = u - u2 / 4, power = u * u2;
  for (double t : kTerms) {
    sum += t * power;
    power *= u2;
  }
  return sum;
}

namespace {

// Both Fresnel integrals at once, of x >= 0.
void Fresnel(double x, double* c, double* s) {
  double t = kPi * x * x / 2;
  // Powers of i t, whose even terms make c and odd ones s, up to where asymptotic series serve better; they
  // cancel, so in long double.
  if (x < 3.8) {
    long double term = x, sums[2] = {x, 0};
    for (int k = 1; k < 200; ++k) {
      term *= static_cast<long double>(t) / k;
      long double part = term / (2 * k + 1);
      sums[k % 2] += (k / 2) % 2 ? -part : part;
      if (part < kEps * 1e-3) break;
    }
    *c = static_cast<double>(sums[0]);
    *s = static_cast<double>(sums[1]);
    return;
  }
  double f = 0, g = 0, term = 1, y = kPi * x * x;
  for (int k = 0; k < 24; ++k) {
    ((k % 2) ? g : f) += (k / 2) % 2 ? -term : term;
    double next = term * (2 * k + 1) / y;
    if (next > term || next < kEps * 1e-3) break;
    term = next;
  }
  f /= kPi * x;
  g /= kPi * x;
  double whole = std::fmod(t, 2 * kPi);
  *c = 0.5 + f * std::sin(whole) - g * std::cos(whole);
  *s = 0.5 - f * std::cos(whole) - g * std::sin(whole);
}

}  // namespace

double FresnelCos(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return std::copysign(0.5, x);
  double c, s;
  Fresnel(std::fabs(x), &c, &s);
  return std::copysign(c, x);
}

double FresnelSin(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return std::copysign(0.5, x);
  double c, s;
  Fresnel(std::fabs(x), &c, &s);
  return std::copysign(s, x);
}

}  // namespace tare::math
