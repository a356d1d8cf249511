package cir

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
)

// Holds decides a condition on integers, such as a Require; nil holds. One on values of the kernel is an error.
func Holds(c Cond, value func(*sym.Symbol) (int64, bool)) (bool, error) {
	switch c := c.(type) {
	case nil:
		return true, nil
	case Cmp:
		x, err := c.X.Eval(value)
		if err != nil {
			return false, err
		}
		y, err := c.Y.Eval(value)
		return compareOps[c.Op](x, y), err
	case And:
		for _, x := range c {
			if ok, err := Holds(x, value); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	case Or:
		for _, x := range c {
			if ok, err := Holds(x, value); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	case Not:
		ok, err := Holds(c.X, value)
		return !ok, err
	}
	return false, fmt.Errorf("expects a condition on integers, but got %T", c)
}

var compareOps = [...]func(x, y int64) bool{
	LT: func(x, y int64) bool { return x < y },
	LE: func(x, y int64) bool { return x <= y },
	EQ: func(x, y int64) bool { return x == y },
	NE: func(x, y int64) bool { return x != y },
}
