package cir

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
)

// Value is an element-typed expression of one thread.
type Value interface {
	Kind() elem.Kind
	value()
}

// BinaryOp is an operation on two values of one kind.
type BinaryOp uint8

// The binary operations. Each rounds once, to the kind of its operands.
const (
	AddOp BinaryOp = iota
	SubOp
	MulOp
	DivOp
	MinOp
	MaxOp
)

var binaryNames = [...]string{"add", "sub", "mul", "div", "min", "max"}

func (o BinaryOp) String() string { return binaryNames[o] }

// UnaryOp is an operation on one value.
type UnaryOp uint8

// The unary operations.
const (
	NegOp UnaryOp = iota
	AbsOp
	SqrtOp
	ExpOp     // e to the x
	TanhOp    // hyperbolic tangent
	SigmoidOp // 1/(1 + e to the -x)
)

var unaryNames = [...]string{"neg", "abs", "sqrt", "exp", "tanh", "sigmoid"}

func (o UnaryOp) String() string { return unaryNames[o] }

type (
	// RegElem reads one element of a register array.
	RegElem struct{ Ref RegRef }
	// MemElem reads one element of memory.
	MemElem struct{ Addr Addr }
	// Lit is a constant.
	Lit struct {
		Elem elem.Kind
		V    float64
	}
	// ParamValue reads a Scalar argument.
	ParamValue struct{ Param *Param }
	// IntValue converts an integer expression.
	IntValue struct {
		Elem elem.Kind
		Expr sym.Expr
	}
	// Binary is X op Y.
	Binary struct {
		Op   BinaryOp
		X, Y Value
	}
	// FMA is X*Y + Z, rounded once.
	FMA struct{ X, Y, Z Value }
	// Unary is op X.
	Unary struct {
		Op UnaryOp
		X  Value
	}
	// Convert rounds to nearest even into another kind; integers saturate.
	Convert struct {
		To elem.Kind
		X  Value
	}
	// Select is X where Cond holds, else Y; only the chosen one is evaluated.
	Select struct {
		Cond Cond
		X, Y Value
	}
)

// Kind of each value: that of its result.
func (v RegElem) Kind() elem.Kind    { return v.Ref.Reg.Elem }
func (v MemElem) Kind() elem.Kind    { return v.Addr.Mem.Elem }
func (v Lit) Kind() elem.Kind        { return v.Elem }
func (v ParamValue) Kind() elem.Kind { return v.Param.Elem }
func (v IntValue) Kind() elem.Kind   { return v.Elem }
func (v Binary) Kind() elem.Kind     { return v.X.Kind() }
func (v FMA) Kind() elem.Kind        { return v.X.Kind() }
func (v Unary) Kind() elem.Kind      { return v.X.Kind() }
func (v Convert) Kind() elem.Kind    { return v.To }
func (v Select) Kind() elem.Kind     { return v.X.Kind() }

func (RegElem) value()    {}
func (MemElem) value()    {}
func (Lit) value()        {}
func (ParamValue) value() {}
func (IntValue) value()   {}
func (Binary) value()     {}
func (FMA) value()        {}
func (Unary) value()      {}
func (Convert) value()    {}
func (Select) value()     {}

// Cond is a condition of one thread. A nil Cond is true.
type Cond interface{ cond() }

// CmpOp compares two integers.
type CmpOp uint8

// The comparisons.
const (
	LT CmpOp = iota
	LE
	EQ
	NE
)

var cmpText = [...]string{"<", "<=", "==", "!="}

func (o CmpOp) String() string { return cmpText[o] }

type (
	// Cmp is X op Y.
	Cmp struct {
		Op   CmpOp
		X, Y sym.Expr
	}
	// ValCmp is X op Y on values of one kind; a NaN is not equal, and not less than anything.
	ValCmp struct {
		Op   CmpOp
		X, Y Value
	}
	// And holds if all of its conditions do.
	And []Cond
	// Or holds if one of its conditions does.
	Or []Cond
	// Not holds if its condition does not.
	Not struct{ X Cond }
)

func (Cmp) cond()    {}
func (ValCmp) cond() {}
func (And) cond()    {}
func (Or) cond()     {}
func (Not) cond()    {}

// Decide returns the truth of a condition that does not depend on any symbol's value within its range.
func Decide(c Cond) (truth, known bool) {
	switch c := c.(type) {
	case nil:
		return true, true
	case Cmp:
		return c.decide()
	case And:
		known = true
		for _, x := range c {
			t, k := Decide(x)
			if k && !t {
				return false, true
			}
			known = known && k
		}
		return true, known
	case Or:
		known = true
		for _, x := range c {
			t, k := Decide(x)
			if k && t {
				return true, true
			}
			known = known && k
		}
		return false, known
	case Not:
		t, k := Decide(c.X)
		return !t, k
	}
	return false, false
}

func (c Cmp) decide() (truth, known bool) {
	if v := c.X.View(); v.Op == sym.Min && (c.Op == LT || c.Op == LE) { // below what any of its arguments is below
		for _, x := range v.Args {
			if yes, known := (Cmp{Op: c.Op, X: x, Y: c.Y}).decide(); known && yes {
				return true, true
			}
		}
	}
	lo, hi := c.Y.Sub(c.X).Range() // the sign of Y - X
	switch c.Op {
	case LT:
		return lo > 0, lo > 0 || hi <= 0
	case LE:
		return lo >= 0, lo >= 0 || hi < 0
	case EQ:
		return lo == 0 && hi == 0, lo == hi || lo > 0 || hi < 0
	default:
		return lo > 0 || hi < 0, lo == hi || lo > 0 || hi < 0
	}
}

// Every joins conditions, dropping those that always hold; the result is nil if all of them do.
func Every(cs ...Cond) Cond {
	var out And
	for _, c := range cs {
		if t, known := Decide(c); known && t {
			continue
		}
		if a, ok := c.(And); ok {
			out = append(out, a...)
		} else {
			out = append(out, c)
		}
	}
	switch len(out) {
	case 0:
		return nil
	case 1:
		return out[0]
	}
	return out
}

// WalkValue calls visit for a value and everything in it, conditions' values included.
func WalkValue(v Value, visit func(Value)) {
	if v == nil {
		return
	}
	visit(v)
	switch v := v.(type) {
	case Binary:
		WalkValue(v.X, visit)
		WalkValue(v.Y, visit)
	case FMA:
		WalkValue(v.X, visit)
		WalkValue(v.Y, visit)
		WalkValue(v.Z, visit)
	case Unary:
		WalkValue(v.X, visit)
	case Convert:
		WalkValue(v.X, visit)
	case Select:
		walkCond(v.Cond, visit)
		WalkValue(v.X, visit)
		WalkValue(v.Y, visit)
	}
}

func walkCond(c Cond, visit func(Value)) {
	switch c := c.(type) {
	case ValCmp:
		WalkValue(c.X, visit)
		WalkValue(c.Y, visit)
	case And:
		for _, x := range c {
			walkCond(x, visit)
		}
	case Or:
		for _, x := range c {
			walkCond(x, visit)
		}
	case Not:
		walkCond(c.X, visit)
	}
}
