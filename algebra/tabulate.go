package algebra

import "math"

// tabulate lists the values of the modes at the indices below n; the last mode goes on past its end.
func tabulate[T int32 | int64](ms []imode, n int64) []T {
	out := make([]T, n)
	block := int64(1)
	for k, m := range ms {
		s := m.s
		if k == len(ms)-1 {
			s = ceilDiv(n, block)
		}
		for j := int64(1); j < s && j*block < n; j++ {
			to, step := out[j*block:min((j+1)*block, n)], T(j*m.d)
			for i, v := range out[:len(to)] {
				to[i] = v + step
			}
		}
		if block *= s; block >= n {
			break
		}
	}
	return out
}

// table lists the values of f below n.
func (f *fn) table(n int64) []int64 {
	ms := make([]imode, len(f.s))
	for i := range ms {
		ms[i] = imode{f.s[i], f.d[i]}
	}
	out := tabulate[int64](ms, n)
	if f.sw.B != 0 {
		for i, v := range out {
			out[i] = f.sw.Apply(v + f.off)
		}
	}
	return out
}

// lookup is f with its values below n in a table.
func (f *fn) lookup(n int64) func(int64) int64 {
	all := f.table(n)
	return func(i int64) int64 {
		if i >= 0 && i < n {
			return all[i]
		}
		return f.at(i)
	}
}

// tables compares a static A∘B with r by tables of A, B and r: it gives the first coordinate that differs, or
// -1. ok is false where A has several parts or generators, or its table would be out of proportion.
func (f *composed) tables(rm []mode) (first int64, ok bool) {
	if len(f.v.gens) != 1 || len(f.v.gens[0].Basis) > 0 || !f.v.gens[0].Coef.Is(1) || len(f.v.parts) != 1 {
		return 0, false
	}
	p := &f.v.parts[0]
	top := int64(0)
	bs := make([]imode, len(f.leaves))
	for i, l := range f.leaves {
		if l.d < 0 || l.part < 0 && l.d != 0 {
			return 0, false
		}
		bs[i], top = imode{l.s, l.d}, top+(l.s-1)*l.d
	}
	if top > 8*f.size+1024 {
		return 0, false
	}
	as, rs := make([]imode, len(p.ext)), make([]imode, len(rm))
	for k := range p.ext {
		as[k].s = p.ext[k]
		if len(p.vec[k]) > 0 {
			as[k].d = p.vec[k][0]
		}
	}
	for k, m := range rm {
		s, ok1 := m.s.IsConst()
		d, ok2 := m.d.IsConst()
		if !ok1 || !ok2 {
			return 0, false
		}
		rs[k] = imode{s, d}
	}
	if reaches(as, top+1) && reaches(bs, f.size) && reaches(rs, f.size) {
		return firstUnlike(tabulate[int32](as, top+1), tabulate[int32](bs, f.size), tabulate[int32](rs, f.size)), true
	}
	return firstUnlike(tabulate[int64](as, top+1), tabulate[int64](bs, f.size), tabulate[int64](rs, f.size)), true
}

// reaches reports whether all values below index n fit 31 bits.
func reaches(ms []imode, n int64) bool {
	sum := 0.0
	for _, m := range ms {
		sum += float64(max(m.s, n)) * math.Abs(float64(m.d))
	}
	return sum < math.MaxInt32
}

// firstUnlike is the first i with a(b(i)) != r(i), or -1.
func firstUnlike[T int32 | int64](a, b, r []T) int64 {
	for i, x := range b {
		if a[x] != r[i] {
			return int64(i)
		}
	}
	return -1
}
