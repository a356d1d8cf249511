package alu

import "math/bits"

type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

type signed interface {
	int8 | int16 | int32 | int64
}

// fixed makes a row's function of one that is known.
func fixed(run any) func(*call) any { return func(*call) any { return run } }

// byType chooses a function by the last type.
func byType(runs map[string]any) func(*call) any { return func(c *call) any { return runs[c.t.Name] } }

func ints(u16, u32, u64, s16, s32, s64 any) func(*call) any {
	return byType(map[string]any{"u16": u16, "u32": u32, "u64": u64, "s16": s16, "s32": s32, "s64": s64})
}

const allInts = "u16|u32|u64|s16|s32|s64"

// integerRows are the instructions whose result is as wide as their operands.
func integerRows() map[string][]row {
	return map[string][]row{
		"add": {
			{form: allInts, operands: "T T T", make: ints(add[uint16], add[uint32], add[uint64], add[uint16], add[uint32], add[uint64])},
			{form: "sat s32", operands: "T T T", make: fixed(addSat)},
			{form: "u16x2|s16x2", operands: "T T T", make: fixed(halves2(add[uint16]))},
		},
		"sub": {
			{form: allInts, operands: "T T T", make: ints(sub[uint16], sub[uint32], sub[uint64], sub[uint16], sub[uint32], sub[uint64])},
			{form: "sat s32", operands: "T T T", make: fixed(subSat)},
		},
		"div": {{form: allInts, operands: "T T T", make: ints(divU[uint16], divU[uint32], divU[uint64],
			divS[int16, uint16], divS[int32, uint32], divS[int64, uint64])}},
		"rem": {{form: allInts, operands: "T T T", make: ints(remU[uint16], remU[uint32], remU[uint64],
			remS[int16, uint16], remS[int32, uint32], remS[int64, uint64])}},
		"sad": {{form: allInts, operands: "T T T T", make: ints(sadU[uint16], sadU[uint32], sadU[uint64],
			sadS[int16, uint16], sadS[int32, uint32], sadS[int64, uint64])}},
		"abs": {{form: "s16|s32|s64", operands: "T T", make: ints(nil, nil, nil, absS[int16, uint16], absS[int32, uint32], absS[int64, uint64])}},
		"neg": {{form: "s16|s32|s64", operands: "T T", make: ints(nil, nil, nil, negS[uint16], negS[uint32], negS[uint64])}},
		"min": {
			{form: allInts, operands: "T T T", make: ints(minU[uint16], minU[uint32], minU[uint64],
				minS[int16, uint16], minS[int32, uint32], minS[int64, uint64])},
			{form: "u16x2|s16x2", operands: "T T T", make: byType(map[string]any{"u16x2": halves2(minU[uint16]), "s16x2": halves2(minS[int16, uint16])})},
			{form: "relu s16x2|s32", operands: "T T T", make: byType(map[string]any{
				"s16x2": halves2(relu[int16](minS[int16, uint16])), "s32": relu[int32](minS[int32, uint32])})},
		},
		"max": {
			{form: allInts, operands: "T T T", make: ints(maxU[uint16], maxU[uint32], maxU[uint64],
				maxS[int16, uint16], maxS[int32, uint32], maxS[int64, uint64])},
			{form: "u16x2|s16x2", operands: "T T T", make: byType(map[string]any{"u16x2": halves2(maxU[uint16]), "s16x2": halves2(maxS[int16, uint16])})},
			{form: "relu s16x2|s32", operands: "T T T", make: byType(map[string]any{
				"s16x2": halves2(relu[int16](maxS[int16, uint16])), "s32": relu[int32](maxS[int32, uint32])})},
		},
	}
}

func add[U unsigned](a, b uint64) uint64 { return uint64(U(a) + U(b)) }

func sub[U unsigned](a, b uint64) uint64 { return uint64(U(a) - U(b)) }

func addSat(a, b uint64) uint64 { return saturate32(int64(int32(a)) + int64(int32(b))) }

func subSat(a, b uint64) uint64 { return saturate32(int64(int32(a)) - int64(int32(b))) }

func saturate32(v int64) uint64 { return uint64(uint32(min(max(v, -1<<31), 1<<31-1))) }

func divU[U unsigned](a, b uint64) uint64 {
	if U(b) == 0 {
		return uint64(^U(0))
	}
	return uint64(U(a) / U(b))
}

func divS[S signed, U unsigned](a, b uint64) uint64 {
	if S(b) == 0 {
		return uint64(^U(0))
	}
	return uint64(U(S(a) / S(b)))
}

func remU[U unsigned](a, b uint64) uint64 {
	if U(b) == 0 {
		return uint64(U(a))
	}
	return uint64(U(a) % U(b))
}

func remS[S signed, U unsigned](a, b uint64) uint64 {
	if S(b) == 0 {
		return uint64(U(a))
	}
	return uint64(U(S(a) % S(b)))
}

func sadU[U unsigned](a, b, c uint64) uint64 {
	x, y := U(a), U(b)
	return uint64(U(c) + max(x, y) - min(x, y))
}

func sadS[S signed, U unsigned](a, b, c uint64) uint64 {
	x, y := S(a), S(b)
	return uint64(U(c) + U(max(x, y)) - U(min(x, y)))
}

func absS[S signed, U unsigned](a uint64) uint64 {
	x := S(a)
	return uint64(U(max(x, -x) | x&-x&^max(x, -x))) // the least value is its own negative
}

func negS[U unsigned](a uint64) uint64 { return uint64(-U(a)) }

func minU[U unsigned](a, b uint64) uint64 { return uint64(min(U(a), U(b))) }

func maxU[U unsigned](a, b uint64) uint64 { return uint64(max(U(a), U(b))) }

func minS[S signed, U unsigned](a, b uint64) uint64 { return uint64(U(min(S(a), S(b)))) }

func maxS[S signed, U unsigned](a, b uint64) uint64 { return uint64(U(max(S(a), S(b)))) }

// relu makes negative results zero.
func relu[S signed](f f2) f2 {
	return func(a, b uint64) uint64 {
		if d := f(a, b); S(d) > 0 {
			return d
		}
		return 0
	}
}

// halves1, halves2 and halves3 apply a function of 16 bits to both halves of 32.
func halves1(f f1) f1 {
	return func(a uint64) uint64 { return f(a&0xffff) | f(a>>16&0xffff)<<16 }
}

func halves2(f f2) f2 {
	return func(a, b uint64) uint64 { return f(a&0xffff, b&0xffff) | f(a>>16&0xffff, b>>16&0xffff)<<16 }
}

func halves3(f f3) f3 {
	return func(a, b, c uint64) uint64 {
		return f(a&0xffff, b&0xffff, c&0xffff) | f(a>>16&0xffff, b>>16&0xffff, c>>16&0xffff)<<16
	}
}

// sum32 and the functions after it have the carry or borrow as their second result.
func sum32(a, b, carry uint64) (uint64, uint64) {
	s := a + b + carry
	return s & 0xffffffff, s >> 32
}

func sum64(a, b, carry uint64) (uint64, uint64) { return bits.Add64(a, b, carry) }

func difference32(a, b, borrow uint64) (uint64, uint64) {
	d := a - b - borrow
	return d & 0xffffffff, d >> 63
}

func difference64(a, b, borrow uint64) (uint64, uint64) { return bits.Sub64(a, b, borrow) }
