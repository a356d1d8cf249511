package emu

import "math/big"

// exactFMA rounds x*y + z once, with numbers of any precision.
func exactFMA(x, y, z float64) float32 {
	f := func(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }
	s := f(0).Mul(f(x), f(y))
	out, _ := s.Add(s, f(z)).Float32()
	return out
}
