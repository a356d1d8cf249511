package alu

import "math"

// tiny makes the format of a few bits that has neither infinity nor NaN: in NaN's place is the largest value.
func tiny(exp, man int) *format {
	bias := 1<<(exp-1) - 1
	f := &format{man: man, minExp: 1 - bias, nan: 1<<(exp+man) - 1}
	f.decode = func(a uint64) float64 {
		m, e := float64(a&mask(man)), int(a>>man&mask(exp))
		v := math.Ldexp(m, f.minExp-man)
		if e > 0 {
			v = math.Ldexp(m+float64(int(1)<<man), e-bias-man)
		}
		if a>>(exp+man)&1 == 1 {
			return -v
		}
		return v
	}
	f.largest = f.decode(f.nan)
	values := make([]float64, f.nan+1)
	for a := range values {
		values[a] = f.decode(uint64(a))
	}
	f.encode = func(v float64) uint64 { // of a value of the format
		for a, w := range values {
			if w == math.Abs(v) {
				if math.Signbit(v) {
					a |= 1 << (exp + man)
				}
				return uint64(a)
			}
		}
		return f.nan
	}
	return f
}
