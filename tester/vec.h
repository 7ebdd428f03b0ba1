/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 64 bytes as one value, in whatever registers the build has: one with AVX-512, four with SSE2.
 * Hot files are compiled once per instruction set; the type and its memory layout stay the same,
 * but not how it is returned from a function: between files it is passed by address only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

typedef uint64_t vec64 __attribute__((vector_size(64), aligned(64)));
typedef uint64_t vec64_unaligned __attribute__((vector_size(64), aligned(1), may_alias));

static inline vec64 vec_load(const void *from)
{
	return *(const vec64_unaligned *)from;
}

static inline void vec_store(void *to, vec64 value)
{
	*(vec64_unaligned *)to = value;
}

static inline bool vec_any(vec64 value)
{
#if defined(__AVX512F__)
	return _mm512_test_epi64_mask((__m512i)value, (__m512i)value) != 0;
#elif defined(__SSE4_1__)
	union {
		vec64 whole;
		__m128i part[4];
	} v = {value};
	__m128i any = _mm_or_si128(_mm_or_si128(v.part[0], v.part[1]),
				   _mm_or_si128(v.part[2], v.part[3]));
	return !_mm_testz_si128(any, any);
#else
	return (value[0] | value[1] | value[2] | value[3] | value[4] | value[5] | value[6] |
		value[7]) != 0;
#endif
}
