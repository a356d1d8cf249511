package algebra

import (
	"math"
	"math/bits"

	"github.com/gocute/gocute/algebra/sym"
)

// tabulate lists the values of the modes at the indices below n; the last mode goes on past its end.
func tabulate(s, d []int64, n int64) []int64 {
	out := make([]int64, n)
	block := int64(1)
	for k := range s {
		ext := s[k]
		if k == len(s)-1 {
			ext = ceilDiv(n, block)
		}
		for j := int64(1); j < ext && j*block < n; j++ {
			to, step := out[j*block:min((j+1)*block, n)], j*d[k]
			for i, v := range out[:len(to)] {
				to[i] = v + step
			}
		}
		if block *= ext; block >= n {
			break
		}
	}
	return out
}

// table lists the values of f below n.
func (f *fn) table(n int64) []int64 {
	out := tabulate(f.s, f.d, n)
	if f.sw.B != 0 {
		x := f.sw.xor()
		for i, v := range out {
			out[i] = x.of(v + f.off)
		}
	}
	return out
}

// xor is a swizzle prepared for many offsets: one of the shifts is 0.
type xor struct {
	mask        int64
	right, left uint
}

func (w Swizzle) xor() xor { return xor{w.from(), uint(max(w.S, 0)), uint(max(-w.S, 0))} }

func (x xor) of(v int64) int64 { return v ^ v&x.mask>>(x.right&63)<<(x.left&63) }

// halves are the values of a function without a swizzle: at i it is low[i%len(low)] + high[i/len(low)].
type halves struct{ low, high []int64 }

// halve cuts a function's modes where the sizes of the first ones make n; ok is false where they do not.
func halve(f *fn, n int64) (_ halves, ok bool) {
	k, size := 0, int64(1)
	for ; k < len(f.s) && size < n; k++ {
		size *= f.s[k]
	}
	if size != n {
		return halves{}, false
	}
	return halves{tabulate(f.s[:k], f.d[:k], n), tabulate(f.s[k:], f.d[k:], f.n/n)}, true
}

// image is the function A(Sw(off + B(i))) of static layouts; B's own swizzle and offset are those.
type image struct {
	a, b *fn
	x    xor
	off  int64
}

func newImage(a, b *fn, w Swizzle, off int64) *image { return &image{a, b, w.xor(), off} }

// fits reports whether no value, and nothing on the way to one, is beyond 63 bits.
func (m *image) fits() bool {
	in := math.Abs(float64(m.off))
	for k, s := range m.b.s {
		in += float64(s-1) * math.Abs(float64(m.b.d[k]))
	}
	if m.x.mask != 0 {
		in += 2*in + float64(m.x.mask>>(m.x.right&63)<<(m.x.left&63))
	}
	out := math.Abs(float64(m.a.off))
	for k, s := range m.a.s {
		digit := in
		if k < len(m.a.s)-1 {
			digit = min(in, float64(s-1))
		}
		out += digit * math.Abs(float64(m.a.d[k]))
	}
	return in < sym.Unbounded && out < sym.Unbounded
}

func (m *image) inner(i int64) int64 {
	v := m.off
	for k, s := range m.b.s {
		v += i % s * m.b.d[k]
		i /= s
	}
	return m.x.of(v)
}

func (m *image) at(i int64) int64 { return m.a.at(m.inner(i)) }

// reach is the least index of A beyond all that B and the swizzle lead to; ok is false where one is negative
// or where a table of A up to there would be out of proportion.
func (m *image) reach() (top int64, ok bool) {
	top = m.off
	for k, s := range m.b.s {
		if m.b.d[k] < 0 {
			return 0, false
		}
		top += (s - 1) * m.b.d[k]
	}
	to := m.x.mask >> (m.x.right & 63) << (m.x.left & 63) // it adds at most these bits, and none beyond both
	top = min(top+to, int64(1)<<bits.Len64(uint64(top|to))-1)
	return top + 1, m.off >= 0 && top < 8*m.b.n+1024
}

// unlike is the first i below the size of B with m(i) != r(i), or -1. It looks at all of them: A's values come
// from a table, those of B and r from two short ones.
func (m *image) unlike(r *fn) int64 {
	top, ok := m.reach()
	cut := middle(m.b)
	b, ok1 := halve(m.b, cut)
	to, ok2 := halve(r, cut)
	if !ok || !ok1 || !ok2 {
		for i := range m.b.n {
			if m.at(i) != r.at(i) {
				return i
			}
		}
		return -1
	}
	a, x, y := m.a.table(top), m.x, r.sw.xor()
	for j, base := range b.high {
		base, off := base+m.off, to.high[j]
		if r.sw.B != 0 {
			off += r.off
		}
		lows := to.low[:len(b.low)]
		for i, v := range b.low {
			if a[x.of(v+base)] != y.of(lows[i]+off) {
				return int64(j*len(b.low) + i)
			}
		}
	}
	return -1
}

// middle is where to cut a function so that both halves are short.
func middle(f *fn) int64 {
	best, size := int64(1), int64(1)
	for _, s := range f.s {
		if size *= s; size+f.n/size < best+f.n/best {
			best = size
		}
	}
	return best
}
