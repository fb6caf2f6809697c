/* One string of a TF_STRING tensor: 24 bytes whose layout is ABI, for programs and library alike.

   The two low bits of byte 0 choose the form (little-endian machines only):
     small   byte 0 is size << 2; up to 22 bytes and a NUL follow
     large   size << 2 | 1, capacity (without the NUL), pointer from malloc, NUL-terminated
     offset  size << 2 | 2, offset from this struct: read-only, in mapped memory
     view    size << 2 | 3, pointer, owner: bytes of somebody else's, kept alive by the owner if there is one
   A zeroed struct is the empty string. Not thread-safe per object. Where malloc fails, functions that copy
   leave the string as it was; those that give a pointer give NULL. */
#ifndef TSL_PLATFORM_CTSTRING_INTERNAL_H_
#define TSL_PLATFORM_CTSTRING_INTERNAL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TF_TString_Type {
  TF_TSTR_SMALL = 0x00,
  TF_TSTR_LARGE = 0x01,
  TF_TSTR_OFFSET = 0x02,
  TF_TSTR_VIEW = 0x03,
  TF_TSTR_TYPE_MASK = 0x03
} TF_TString_Type;

/* Shared ownership of a view's bytes: a view that is copied calls ref, one that goes calls unref, which gives
   whether it was the last. */
typedef struct TStringOwnerCApi {
  void (*ref)(struct TStringOwnerCApi* self);
  bool (*unref)(struct TStringOwnerCApi* self);
  void* obj;
} TStringOwnerCApi;

typedef struct TF_TString_Large {
  size_t size;
  size_t cap;
  char* ptr;
} TF_TString_Large;

typedef struct TF_TString_Offset {
  uint32_t size;
  uint32_t offset;
  uint32_t count;
} TF_TString_Offset;

typedef struct TF_TString_View {
  size_t size;
  const char* ptr;
  TStringOwnerCApi* owner_ref;
} TF_TString_View;

typedef struct TF_TString_Raw {
  uint8_t raw[24];
} TF_TString_Raw;

enum { TF_TString_SmallCapacity = sizeof(TF_TString_Raw) - sizeof(uint8_t) - 1 };

typedef struct TF_TString_Small {
  uint8_t size;
  char str[TF_TString_SmallCapacity + sizeof(char)];
} TF_TString_Small;

typedef struct TF_TString {
  union {
    TF_TString_Small smll;
    TF_TString_Large large;
    TF_TString_Offset offset;
    TF_TString_View view;
    TF_TString_Raw raw;
  } u;
} TF_TString;

static inline TF_TString_Type TF_TString_GetType(const TF_TString* str) {
  return (TF_TString_Type)(str->u.raw.raw[0] & TF_TSTR_TYPE_MASK);
}

static inline size_t TF_TString_ToInternalSizeT(size_t size, TF_TString_Type type) {
  return size << 2 | (size_t)type;
}

static inline size_t TF_TString_ToActualSizeT(size_t size) { return size >> 2; }

/* The empty string; what was there before is not freed. */
static inline void TF_TString_Init(TF_TString* str) { memset(str, 0, sizeof *str); }

/* Frees what the string holds and makes it empty. */
static inline void TF_TString_Dealloc(TF_TString* str) {
  const TF_TString_Type type = TF_TString_GetType(str);
  if (type == TF_TSTR_LARGE) free(str->u.large.ptr);
  if (type == TF_TSTR_VIEW && str->u.view.owner_ref) str->u.view.owner_ref->unref(str->u.view.owner_ref);
  TF_TString_Init(str);
}

static inline size_t TF_TString_GetSize(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL: return (size_t)(str->u.smll.size >> 2);
    case TF_TSTR_OFFSET: return (size_t)(str->u.offset.size >> 2);
    default: return TF_TString_ToActualSizeT(str->u.large.size);
  }
}

/* Bytes the string can grow to where it is. */
static inline size_t TF_TString_GetCapacity(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL: return TF_TString_SmallCapacity;
    case TF_TSTR_LARGE: return str->u.large.cap;
    default: return 0;
  }
}

static inline const char* TF_TString_GetDataPointer(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL: return str->u.smll.str;
    case TF_TSTR_LARGE: return str->u.large.ptr;
    case TF_TSTR_OFFSET: return (const char*)str + str->u.offset.offset;
    default: return str->u.view.ptr;
  }
}

/* Makes room for `new_cap` bytes, keeping the contents; views and offsets become copies of their own. */
static inline void TF_TString_Reserve(TF_TString* str, size_t new_cap) {
  const TF_TString_Type type = TF_TString_GetType(str);
  const size_t size = TF_TString_GetSize(str);
  TF_TString grown;
  if (new_cap < size) new_cap = size;
  if ((type == TF_TSTR_SMALL || type == TF_TSTR_LARGE) && new_cap <= TF_TString_GetCapacity(str)) return;
  if (new_cap > SIZE_MAX / 8) return;
  TF_TString_Init(&grown);
  if (new_cap <= TF_TString_SmallCapacity) {
    grown.u.smll.size = (uint8_t)(size << 2);
    if (size) memcpy(grown.u.smll.str, TF_TString_GetDataPointer(str), size);
  } else {
    /* Blocks are multiples of 16 bytes, the NUL included. */
    const size_t bytes = (new_cap + 16) & ~(size_t)15;
    char* p = (char*)malloc(bytes);
    if (!p) return;
    if (size) memcpy(p, TF_TString_GetDataPointer(str), size);
    p[size] = 0;
    grown.u.large.size = TF_TString_ToInternalSizeT(size, TF_TSTR_LARGE);
    grown.u.large.cap = bytes - 1;
    grown.u.large.ptr = p;
  }
  TF_TString_Dealloc(str);
  *str = grown;
}

/* The same, at least doubling, for strings that grow by little and little. */
static inline void TF_TString_ReserveAmortized(TF_TString* str, size_t new_cap) {
  const size_t cap = TF_TString_GetCapacity(str);
  if (new_cap > cap) TF_TString_Reserve(str, new_cap > 2 * cap ? new_cap : 2 * cap);
}

/* Sets the size; new bytes are undefined. The data, writable; NULL when there is no memory. */
static inline char* TF_TString_ResizeUninitialized(TF_TString* str, size_t new_size) {
  const size_t old_size = TF_TString_GetSize(str);
  char* p;
  TF_TString_Reserve(str, new_size > old_size ? new_size : old_size);
  if (new_size > TF_TString_GetCapacity(str)) return NULL;
  if (TF_TString_GetType(str) == TF_TSTR_SMALL) {
    str->u.smll.size = (uint8_t)(new_size << 2);
    p = str->u.smll.str;
  } else {
    str->u.large.size = TF_TString_ToInternalSizeT(new_size, TF_TSTR_LARGE);
    p = str->u.large.ptr;
  }
  p[new_size] = 0;
  return p;
}

/* Sets the size; new bytes are `c`. */
static inline char* TF_TString_Resize(TF_TString* str, size_t new_size, char c) {
  const size_t old_size = TF_TString_GetSize(str);
  char* p = TF_TString_ResizeUninitialized(str, new_size);
  if (p && new_size > old_size) memset(p + old_size, c, new_size - old_size);
  return p;
}

/* Bytes that may be written: a view or an offset becomes a copy first. */
static inline char* TF_TString_GetMutableDataPointer(TF_TString* str) {
  return TF_TString_ResizeUninitialized(str, TF_TString_GetSize(str));
}

/* Refers to bytes that `owner` keeps alive; the string takes over one reference. */
static inline void TF_TString_AssignViewWithOwner(TF_TString* dst, const char* src, size_t size,
                                                  TStringOwnerCApi* owner_ref) {
  TF_TString_Dealloc(dst);
  dst->u.view.size = TF_TString_ToInternalSizeT(size, TF_TSTR_VIEW);
  dst->u.view.ptr = src;
  dst->u.view.owner_ref = owner_ref;
}

/* Refers to bytes that outlive the string. */
static inline void TF_TString_AssignView(TF_TString* dst, const char* src, size_t size) {
  TF_TString_AssignViewWithOwner(dst, src, size, NULL);
}

/* `src` must not lie in `dst`. */
static inline void TF_TString_AppendN(TF_TString* dst, const char* src, size_t src_size) {
  const size_t old_size = TF_TString_GetSize(dst);
  char* p;
  if (!src_size) return;
  TF_TString_ReserveAmortized(dst, old_size + src_size);
  p = TF_TString_ResizeUninitialized(dst, old_size + src_size);
  if (p) memcpy(p + old_size, src, src_size);
}

static inline void TF_TString_Append(TF_TString* dst, const TF_TString* src) {
  TF_TString_AppendN(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
}

/* Becomes a copy of the bytes, which must not lie in `dst`. */
static inline void TF_TString_Copy(TF_TString* dst, const char* src, size_t size) {
  TF_TString copy;
  char* p;
  TF_TString_Init(&copy);
  p = TF_TString_ResizeUninitialized(&copy, size);
  if (!p) return;
  if (size) memcpy(p, src, size);
  TF_TString_Dealloc(dst);
  *dst = copy;
}

/* Becomes equal to `src`: a view of the same bytes where that is one, else a copy. */
static inline void TF_TString_Assign(TF_TString* dst, const TF_TString* src) {
  if (dst == src) return;
  if (TF_TString_GetType(src) == TF_TSTR_VIEW) {
    TStringOwnerCApi* owner = src->u.view.owner_ref;
    if (owner) owner->ref(owner);
    TF_TString_AssignViewWithOwner(dst, src->u.view.ptr, TF_TString_GetSize(src), owner);
  } else {
    TF_TString_Copy(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
  }
}

/* Takes over what `src` holds, which becomes empty; the bytes of an offset are copied. */
static inline void TF_TString_Move(TF_TString* dst, TF_TString* src) {
  if (dst == src) return;
  if (TF_TString_GetType(src) == TF_TSTR_OFFSET) {
    TF_TString_Copy(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
    TF_TString_Init(src);
    return;
  }
  TF_TString_Dealloc(dst);
  *dst = *src;
  TF_TString_Init(src);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TSL_PLATFORM_CTSTRING_INTERNAL_H_ */
