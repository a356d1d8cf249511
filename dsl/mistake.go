package dsl

import (
	"fmt"
	"runtime"

	"github.com/gocute/gocute/gen/cir"
)

// mistake is an error in making a value. The value keeps it, since it may know no kernel yet, and the first use that
// knows one reports it, at the line that made the value.
type mistake struct {
	pcs      []uintptr // the calls that made it
	op, text string
}

func (m *mistake) Error() string { return m.op + ": " + m.text }

// wrong makes a mistake of an error; nil remains nil, and what has been reported or is a mistake remains itself.
func wrong(op string, err error) error {
	switch err.(type) {
	case nil, reported, *mistake:
		return err
	}
	pcs := make([]uintptr, 64)
	return &mistake{pcs: pcs[:runtime.Callers(2, pcs)], op: op, text: err.Error()}
}

// operand is a Val of any type.
type operand struct {
	k   *K
	v   cir.Value
	err error
}

// check is the mistake that an operand brings to an operation.
func (x operand) check(op string) error {
	if x.v == nil && x.err == nil {
		return wrong(op, fmt.Errorf("expects a value, but got one that was never set"))
	}
	return x.err
}

// join is the kernel of operands and the first mistake in them.
func join(op string, from ...operand) (k *K, err error) {
	for _, x := range from {
		switch {
		case k == nil:
			k = x.k
		case x.k != nil && x.k != k && err == nil:
			err = wrong(op, fmt.Errorf("expects values of one kernel, but got one of kernel %s", x.k.kernel.ir.Name))
		}
		if err == nil {
			err = x.check(op)
		}
	}
	return k, err
}

// made is the value that an operation makes of operands, or the first mistake in it.
func made(op string, v cir.Value, from ...operand) operand {
	k, err := join(op, from...)
	if err == nil {
		err = wrong(op, cir.Allowed(v))
	}
	if err != nil {
		return operand{k: k, err: err}
	}
	return operand{k: k, v: v}
}
