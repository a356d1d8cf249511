package selftest

import (
	"math"
	"strings"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/elem"
)

// product is an MMA's inputs, one number for each value of each lane, and what its row says comes out.
type product struct {
	row           *atoms.MMARow
	a, b, c       operand
	inA, inB, inC []float64
	expected      []float64
}

// patterns are the numbers that operands are filled with: small enough that every sum is exact.
var patterns = map[elem.Kind]struct{ lo, hi int64 }{
	elem.KS4: {-8, 7}, elem.KU4: {0, 15}, elem.KB1: {0, 1}, elem.KS8: {-128, 127}, elem.KU8: {0, 255}, elem.KS16: {-32768, 32767},
	elem.KE5M2: {-4, 4}, elem.KE4M3: {-4, 4},
}

// hash spreads a number over 32 bits, so that neighbouring places hold unlike values.
func hash(n int64) int64 {
	x := uint64(n)*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	return int64(x >> 33)
}

// fill makes an operand's numbers.
func fill(o operand, salt int64) []float64 {
	r, ok := patterns[o.kind]
	if !ok {
		r.lo, r.hi = -7, 8
	}
	out := make([]float64, lanes*o.values*numbers(o.kind))
	for i := range out {
		out[i] = float64(r.lo + hash(int64(i)+salt)%(r.hi-r.lo+1))
	}
	return out
}

// fillC has accumulators of integers near the ends of their range too: they wrap or saturate.
func fillC(o operand) []float64 {
	out := fill(o, 3<<20)
	for i := range out {
		switch {
		case o.kind != elem.KS32 || i%3 == 0:
		case i%3 == 1:
			out[i] += math.MaxInt32 - 100
		default:
			out[i] += math.MinInt32 + 100
		}
	}
	return out
}

func newProduct(row *atoms.MMARow) (*product, error) {
	p := &product{row: row}
	for _, x := range []struct {
		which byte
		to    *operand
	}{{'A', &p.a}, {'B', &p.b}, {'C', &p.c}} {
		var err error
		if *x.to, err = operandOf(row, x.which); err != nil {
			return nil, err
		}
	}
	p.inA, p.inB, p.inC = fill(p.a, 1<<20), fill(p.b, 2<<20), fillC(p.c)
	at, err := places(row)
	if err != nil {
		return nil, err
	}
	p.multiply(at)
	return p, nil
}

// multiply collects the matrices of every instance from the lanes, multiplies them, and deals the results out.
func (p *product) multiply(at [lanes][2]int64) {
	type matrices struct{ a, b, c []float64 }
	na, nb, nc := numbers(p.row.EA), numbers(p.row.EB), numbers(p.row.D)
	all := map[int64]*matrices{}
	for _, x := range at {
		if all[x[0]] == nil {
			all[x[0]] = &matrices{make([]float64, p.row.M*p.row.K*na), make([]float64, p.row.N*p.row.K*nb), make([]float64, p.row.M*p.row.N*nc)}
		}
	}
	collect := func(o operand, n int, in []float64, of func(*matrices) []float64) {
		for lane, x := range at {
			for v := range o.values {
				copy(of(all[x[0]])[int(o.at(x[1], int64(v)))*n:][:n], in[(lane*o.values+v)*n:][:n])
			}
		}
	}
	collect(p.a, na, p.inA, func(m *matrices) []float64 { return m.a })
	collect(p.b, nb, p.inB, func(m *matrices) []float64 { return m.b })
	collect(p.c, nc, p.inC, func(m *matrices) []float64 { return m.c })
	for _, m := range all {
		p.accumulate(m.a, m.b, m.c)
	}
	p.expected = make([]float64, len(p.inC))
	for lane, x := range at {
		for v := range p.c.values {
			copy(p.expected[(lane*p.c.values+v)*nc:][:nc], all[x[0]].c[int(p.c.at(x[1], int64(v)))*nc:][:nc])
		}
	}
}

// accumulate is c += a*b in the row's arithmetic; a is m+M*k, b n+N*k and c m+M*n.
func (p *product) accumulate(a, b, c []float64) {
	na, nc := numbers(p.row.EA), numbers(p.row.D)
	for m := range p.row.M {
		for n := range p.row.N {
			d := c[(m+p.row.M*n)*nc:][:nc]
			for k := range p.row.K {
				add(d, a[(m+p.row.M*k)*na:][:na], b[(n+p.row.N*k)*na:][:na], strings.HasSuffix(p.row.PTX, ".xor.popc"))
			}
			if p.row.D == elem.KS32 {
				d[0] = integer(d[0], strings.Contains(p.row.PTX, ".satfinite"))
			}
		}
	}
}

// add adds one product: of numbers, of bits that differ, or of complex numbers to their parts or to Gauss' three sums.
func add(d, x, y []float64, differ bool) {
	switch {
	case differ:
		d[0] += math.Abs(x[0] - y[0])
	case len(d) == 1:
		d[0] += x[0] * y[0]
	case len(d) == 2:
		d[0] += x[0]*y[0] - x[1]*y[1]
		d[1] += x[0]*y[1] + x[1]*y[0]
	default:
		d[0] += x[0] * y[0]
		d[1] += x[1] * y[1]
		d[2] += (x[0] + x[1]) * (y[0] + y[1])
	}
}

// integer is a sum as 32 bits hold it.
func integer(v float64, saturates bool) float64 {
	if saturates {
		return min(max(v, math.MinInt32), math.MaxInt32)
	}
	return float64(int32(int64(v)))
}
