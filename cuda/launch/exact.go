package launch

import (
	"errors"
	"fmt"
	"math"
)

// Exact computes with integers that may leave the range of int64 or divide by what is not positive, and
// remembers that they did. Results out of range are the nearest number in range. The zero Exact is ready.
type Exact struct{ bad bool }

var errInexact = errors.New("the sizes are too large: an expression of them does not fit 64 bits or divides by zero")

// Err returns the error of the computations so far, if any went wrong.
func (x *Exact) Err(kernel string) error {
	if x == nil || !x.bad {
		return nil
	}
	return fmt.Errorf("%s: %w", kernel, errInexact)
}

// spoil notes that a result is out of range; a nil Exact only computes.
func (x *Exact) spoil() {
	if x != nil {
		x.bad = true
	}
}

func (x *Exact) out(negative bool) int64 {
	x.spoil()
	if negative {
		return math.MinInt64
	}
	return math.MaxInt64
}

// Add is a + b.
func (x *Exact) Add(a, b int64) int64 {
	s := a + b
	if (a^s)&(b^s) < 0 { // the sum's sign is neither one's
		return x.out(a < 0)
	}
	return s
}

// Sub is a - b.
func (x *Exact) Sub(a, b int64) int64 {
	d := a - b
	if (a^b)&(a^d) < 0 {
		return x.out(a < 0)
	}
	return d
}

// Mul is a * b.
func (x *Exact) Mul(a, b int64) int64 {
	p := a * b
	if a != 0 && (p/a != b || a == -1 && b == math.MinInt64) {
		return x.out((a < 0) != (b < 0))
	}
	return p
}

// Div is a / b rounded down; b has to be positive.
func (x *Exact) Div(a, b int64) int64 {
	if b <= 0 {
		x.spoil()
		return 0
	}
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Mod is a - b*Div(a, b), which is never negative; b has to be positive.
func (x *Exact) Mod(a, b int64) int64 {
	if b <= 0 {
		x.spoil()
		return 0
	}
	r := a % b
	if r < 0 {
		r += b
	}
	return r
}
