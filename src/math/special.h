// Special functions of double. Float and smaller types are computed through double as well: these are rare,
// and accuracy there is free. NaN gives NaN; poles and domains are as TensorFlow has them.
#pragma once

namespace tare::math {

double Lgamma(double x);
double Digamma(double x);
// Inverses of erf, erfc and of the normal distribution function.
double Erfinv(double x);
double Erfcinv(double x);
double Ndtri(double p);

// Modified Bessel functions of order 0 or 1; Scaled: times exp(-|x|) for I, exp(x) for K.
double BesselI(int order, double x);
double BesselIScaled(int order, double x);
double BesselK(int order, double x);
double BesselKScaled(int order, double x);

// Regularised incomplete gamma functions, lower (P) and upper (Q), and incomplete beta function.
double Igamma(double a, double x);
double Igammac(double a, double x);
double Betainc(double a, double b, double x);
// Hurwitz's zeta function, sum over k >= 0 of (k + q)^-x.
double Zeta(double x, double q);
// The n-th derivative of digamma.
double Polygamma(double n, double x);

double Dawson(double x);
double ExpIntegral(double x);
// Integral of log(t) / (1 - t) from 1 to x.
double Spence(double x);
double FresnelCos(double x);
double FresnelSin(double x);

}  // namespace tare::math
