package alu

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// bit is bit i of a word, counted from 0.
func bit(a uint64, i int) int { return int(a >> i & 1) }

func typed(n int, c string) (typ, reg string) {
	if n == 64 {
		return c + "64", "b64_"
	}
	return c + "32", "b32_"
}

// TestFields compares bfe and bfi with copies bit by bit.
func TestFields(t *testing.T) {
	on1 := once(t)
	for _, n := range []int{32, 64} {
		for _, sign := range []string{"u", "s", "b"} {
			typ, reg := typed(n, sign)
			amounts := []uint64{0, 1, 5, 8, 16, 31, 32, 33, 40, 63, 64, 65, 200, 255, 256, 0x1fe, 0xffffff05}
			for _, a := range sample(n, 20, 1) {
				for _, at := range amounts {
					for _, count := range amounts {
						p, c := int(at&0xff), int(count&0xff)
						if sign == "b" {
							b := a * 0x9e3779b97f4a7c15 & mask(n)
							want := b
							for i := 0; i < c && p+i < n; i++ {
								want = want&^(1<<(p+i)) | uint64(bit(a, i))<<(p+i)
							}
							require.Equal(t, want, on1("bfi."+typ, reg, reg, reg, "b32_", "b32_").eval(a, b, at, count), "%#x %d %d", a, p, c)
							continue
						}
						var want uint64
						fill := 0
						if sign == "s" && c > 0 {
							fill = bit(a, min(p+c-1, n-1))
						}
						for i := range n {
							v := fill
							if i < c && p+i < n {
								v = bit(a, p+i)
							}
							want |= uint64(v) << i
						}
						require.Equal(t, want, on1("bfe."+typ, reg, reg, "b32_", "b32_").eval(a, at, count), "bfe.%s %#x %d %d", typ, a, p, c)
					}
				}
			}
		}
	}
}

// once is on with each instruction compiled once.
func once(t *testing.T) func(op string, operands ...string) *Op {
	compiled := map[string]*Op{}
	return func(op string, operands ...string) *Op {
		if compiled[op] == nil {
			compiled[op] = on(t, op, operands...)
		}
		return compiled[op]
	}
}

// TestCounting compares popc, clz, brev and bfind with loops over the bits.
func TestCounting(t *testing.T) {
	on1 := once(t)
	for _, n := range []int{32, 64} {
		b, reg := typed(n, "b")
		u, _ := typed(n, "u")
		s, _ := typed(n, "s")
		for _, a := range sample(n, 300, 2) {
			ones, reversed, top, topSigned := 0, uint64(0), -1, -1
			for i := range n {
				ones += bit(a, i)
				reversed |= uint64(bit(a, i)) << (n - 1 - i)
				if bit(a, i) == 1 {
					top = i
				}
				if bit(a, i) != bit(a, n-1) {
					topSigned = i
				}
			}
			require.EqualValues(t, ones, on1("popc."+b, "b32_", reg).eval(a))
			require.EqualValues(t, n-1-top, on1("clz."+b, "b32_", reg).eval(a))
			require.Equal(t, reversed, on1("brev."+b, reg, reg).eval(a))
			require.EqualValues(t, uint32(top), on1("bfind."+u, "b32_", reg).eval(a))
			require.EqualValues(t, uint32(topSigned), on1("bfind."+s, "b32_", reg).eval(a))
			for typ, at := range map[string]int{u: top, s: topSigned} {
				want := uint32(0xffffffff)
				if at >= 0 {
					want = uint32(n - 1 - at)
				}
				require.EqualValues(t, want, on1("bfind.shiftamt."+typ, "b32_", reg).eval(a))
			}
		}
	}
}

// TestMasks compares szext, bmsk and fns with loops over the bits.
func TestMasks(t *testing.T) {
	on1 := once(t)
	r := "b32_"
	amounts := []uint64{0, 1, 2, 7, 15, 16, 30, 31, 32, 33, 64, 0xffffffff}
	for _, wrap := range []string{"clamp", "wrap"} {
		limit := func(a uint64) int {
			if wrap == "wrap" {
				return int(a & 31)
			}
			return int(min(a, 32))
		}
		for _, b := range amounts {
			for _, a := range sample(32, 40, 3) {
				n, sign := limit(b), 0
				if n > 0 {
					sign = bit(a, n-1)
				}
				var zero, signed uint64
				for i := range 32 {
					v, w := 0, sign
					if i < n {
						v, w = bit(a, i), bit(a, i)
					}
					zero, signed = zero|uint64(v)<<i, signed|uint64(w)<<i
				}
				require.Equal(t, zero, on1("szext."+wrap+".u32", r, r, r).eval(a, b), "%#x %d", a, b)
				require.Equal(t, signed, on1("szext."+wrap+".s32", r, r, r).eval(a, b), "%#x %d", a, b)
			}
			for _, a := range amounts {
				var want uint64
				for i := range 32 {
					if i >= limit(a) && i < limit(a)+limit(b) {
						want |= 1 << i
					}
				}
				require.Equal(t, want, on1("bmsk."+wrap+".b32", r, r, r).eval(a, b), "%d %d", a, b)
			}
		}
	}
	for _, a := range sample(32, 60, 4) {
		for base := range uint64(32) {
			for n := -5; n <= 5; n++ {
				require.Equal(t, nth(a, int(base), n), on1("fns.b32", r, r, r, r).eval(a, base, uint64(uint32(n))), "%#x %d %d", a, base, n)
			}
		}
	}
}

// nth finds a 1 by listing those in reach.
func nth(a uint64, base, n int) uint64 {
	var found []int
	switch {
	case n == 0:
		if bit(a, base) == 1 {
			return uint64(base)
		}
	case n > 0:
		for i := base; i < 32; i++ {
			if bit(a, i) == 1 {
				found = append(found, i)
			}
		}
	default:
		n = -n
		for i := base; i >= 0; i-- {
			if bit(a, i) == 1 {
				found = append(found, i)
			}
		}
	}
	if n > 0 && n <= len(found) {
		return uint64(found[n-1])
	}
	return 0xffffffff
}

// TestShifts compares shl, shr and shf with moves bit by bit.
func TestShifts(t *testing.T) {
	on1 := once(t)
	amounts := []uint64{0, 1, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 0xffffffff}
	for typ, n := range map[string]int{"b16": 16, "b32": 32, "b64": 64, "u16": 16, "u32": 32, "u64": 64, "s16": 16, "s32": 32, "s64": 64} {
		reg := registersOf(typeNamed("b" + typ[1:]))
		for _, a := range sample(n, 60, 5) {
			for _, c := range amounts {
				var left, right uint64
				for i := range n {
					if uint64(i) >= c {
						left |= uint64(bit(a, i-int(c))) << i
					}
					switch {
					case c < uint64(n) && i+int(c) < n:
						right |= uint64(bit(a, i+int(c))) << i
					case typ[0] == 's':
						right |= uint64(bit(a, n-1)) << i
					}
				}
				require.Equal(t, right, on1("shr."+typ, reg, reg, "b32_").eval(a, c), "shr.%s %#x %d", typ, a, c)
				if typ[0] == 'b' {
					require.Equal(t, left, on1("shl."+typ, reg, reg, "b32_").eval(a, c), "shl.%s %#x %d", typ, a, c)
				}
			}
		}
	}
	for _, wrap := range []string{"clamp", "wrap"} {
		for i, a := range sample(32, 60, 6) {
			b := sample(32, 60, 7)[i]
			for _, c := range amounts {
				n := uint(min(c, 32))
				if wrap == "wrap" {
					n = uint(c % 32)
				}
				left, right := b<<n&0xffffffff|a>>(32-n), b<<(32-n)&0xffffffff|a>>n
				require.Equal(t, left, on1("shf.l."+wrap+".b32", "b32_", "b32_", "b32_", "b32_").eval(a, b, c))
				require.Equal(t, right, on1("shf.r."+wrap+".b32", "b32_", "b32_", "b32_", "b32_").eval(a, b, c))
			}
		}
	}
}

// TestLogic3 compares all 256 tables of lop3 bit by bit, and its forms with a predicate.
func TestLogic3(t *testing.T) {
	in := sample(32, 1, 8)
	for lut := range 256 {
		table := "0x" + string("0123456789abcdef"[lut>>4]) + string("0123456789abcdef"[lut&15])
		plain := on(t, "lop3.b32", "b32_", "b32_", "b32_", "b32_", table)
		or := on(t, "lop3.or.b32", "b32_0|pred_0", "b32_1", "b32_2", "b32_3", table, "pred_1")
		and := on(t, "lop3.and.b32", "b32_0|pred_0", "b32_1", "b32_2", "b32_3", table, "!pred_1")
		for i, a := range in {
			b, c := in[(i+7)%len(in)], in[(i*3+2)%len(in)]
			var want uint64
			for j := range 32 {
				want |= uint64(lut>>(bit(a, j)*4+bit(b, j)*2+bit(c, j))&1) << j
			}
			require.Equal(t, want, plain.eval(a, b, c), "%s of %#x, %#x, %#x", table, a, b, c)
			for q := range uint64(2) {
				var out [2]uint64
				or.Eval([]uint64{a, b, c, q}, out[:])
				require.Equal(t, [2]uint64{want, truth(want != 0 || q == 1)}, out)
				and.Eval([]uint64{a, b, c, q}, out[:])
				require.Equal(t, [2]uint64{want, truth(want != 0 && q == 0)}, out)
			}
		}
	}
}
