/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fields of what driver and card say to each other, by the names of the kernel's mlx5_ifc.h.
 *
 * In that file a type `u8 name[n]` is n bits, counted from the most significant bit of the
 * first byte: offsetof() and sizeof() of such a struct count bits. Offsets here are bits, too.
 */
#ifndef MLX5_MODEL_IFC_H
#define MLX5_MODEL_IFC_H

#include "qemu/osdep.h"
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#define DECLARE_FLEX_ARRAY(type, name)                                                         \
	struct {                                                                               \
		struct {                                                                       \
		} empty_##name;                                                                \
		type name[];                                                                   \
	}
#include "mlx5_ifc.h"

#define IFC_TYPE(type)	      struct mlx5_ifc_##type##_bits
#define IFC_AT(type, field)   offsetof(IFC_TYPE(type), field)
#define IFC_BITS(type, field) sizeof(((IFC_TYPE(type) *)0)->field)
#define IFC_BYTES(type)	      (sizeof(IFC_TYPE(type)) / 8)

/* Value and place of a field in `from`, which begins with a `type`. */
#define IFC_GET(type, from, field) ifc_get(from, IFC_AT(type, field), IFC_BITS(type, field))
#define IFC_SET(type, into, field, value)                                                      \
	ifc_set(into, IFC_AT(type, field), IFC_BITS(type, field), value)
#define IFC_PTR(type, from, field) ((uint8_t *)(from) + IFC_AT(type, field) / 8)

static inline uint64_t ifc_get(const void *from, unsigned at, unsigned bits)
{
	const uint8_t *bytes = from;
	uint64_t value = 0;

	while (bits > 0) {
		unsigned left = 8 - at % 8, take = MIN(left, bits);

		value = value << take | (bytes[at / 8] >> (left - take) & ((1u << take) - 1));
		at += take;
		bits -= take;
	}
	return value;
}

static inline void ifc_set(void *into, unsigned at, unsigned bits, uint64_t value)
{
	uint8_t *bytes = into;

	while (bits > 0) {
		unsigned left = 8 - at % 8, take = MIN(left, bits);
		uint8_t mask = ((1u << take) - 1) << (left - take);

		bits -= take;
		bytes[at / 8] =
			(bytes[at / 8] & ~mask) | (value >> bits << (left - take) & mask);
		at += take;
	}
}

#endif
