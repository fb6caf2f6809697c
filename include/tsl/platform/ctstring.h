/* The string of a TF_STRING tensor; see ctstring_internal.h, which has its layout and functions. */
#ifndef TSL_PLATFORM_CTSTRING_H_
#define TSL_PLATFORM_CTSTRING_H_

#include "tsl/platform/ctstring_internal.h"

#endif /* TSL_PLATFORM_CTSTRING_H_ */
