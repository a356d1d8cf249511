package cir

import (
	"fmt"
	"math"
	"strings"

	"github.com/gocute/gocute/elem"
)

// This file says what values of each element kind can do. The recorder refuses the rest at the user's line; the
// printer and the emulator accept what stands here and nothing else.

// Operator is what a value is computed with: a BinaryOp, a UnaryOp, a CmpOp or a TernaryOp.
type Operator interface {
	fmt.Stringer
	needs() ability
}

// TernaryOp is an operation on three operands.
type TernaryOp uint8

// The operations on three operands, which have nodes of their own.
const (
	FMAOp    TernaryOp = iota // FMA
	SelectOp                  // Select: of two values, by a condition
)

var ternaryNames = [...]string{"fma", "select"}

func (o TernaryOp) String() string { return ternaryNames[o] }

// ability is a set of things that a kind can do.
type ability uint8

const (
	hold    ability = 1 << iota // be a value: moved, and chosen among
	address                     // lie in memory on its own
	order                       // comparisons
	sum                         // arithmetic
	size                        // abs
	root                        // sqrt, exp, tanh, sigmoid
)

var (
	binaryNeeds  = [...]ability{sum, sum, sum, sum, sum, sum}
	unaryNeeds   = [...]ability{sum, size, root, root, root, root}
	ternaryNeeds = [...]ability{sum, hold}
)

func (o BinaryOp) needs() ability  { return binaryNeeds[o] }
func (o UnaryOp) needs() ability   { return unaryNeeds[o] }
func (o TernaryOp) needs() ability { return ternaryNeeds[o] }
func (CmpOp) needs() ability       { return order }

// group is kinds that can do the same, and why they cannot do the rest.
type group struct {
	kinds []elem.Kind
	can   ability
	not   map[ability]string // completes "elements of type x "; OP is the operation
}

const (
	noArithmetic = "have no arithmetic: "
	noFunction   = "have no OP: convert them to f32 first"
)

var groups = []group{
	{kinds: []elem.Kind{elem.KF16, elem.KBF16, elem.KTF32, elem.KF32, elem.KF64},
		can: hold | address | order | sum | size | root},
	{kinds: []elem.Kind{elem.KS8, elem.KS16, elem.KS32, elem.KS64},
		can: hold | address | order | sum | size,
		not: map[ability]string{root: noFunction}},
	{kinds: []elem.Kind{elem.KU8, elem.KU16, elem.KU32, elem.KU64},
		can: hold | address | order | sum,
		not: map[ability]string{root: noFunction, size: "are never negative"}},
	{kinds: []elem.Kind{elem.KS4, elem.KU4, elem.KB1},
		can: hold | order,
		not: map[ability]string{
			sum: noArithmetic + "convert them to s32 first", size: noArithmetic + "convert them to s32 first", root: noFunction,
			address: "are smaller than a byte: memory has no address of a single one, so copy whole words"}},
	{kinds: []elem.Kind{elem.KE4M3, elem.KE5M2},
		can: hold | address,
		not: map[ability]string{
			sum: noArithmetic + onlyMMA, size: noArithmetic + onlyMMA, root: noArithmetic + onlyMMA,
			order: "have no comparison: " + onlyMMA}},
}

const onlyMMA = "only MMA instructions compute with them"

// byKind finds a kind's group. Kinds that are in none are no single numbers: c64, u128 and the like.
var byKind = func() map[elem.Kind]*group {
	out := map[elem.Kind]*group{}
	for i := range groups {
		for _, k := range groups[i].kinds {
			out[k] = &groups[i]
		}
	}
	return out
}()

// can returns nil if a kind has an ability, or why it does not.
func can(what ability, op string, k elem.Kind) error {
	g := byKind[k]
	switch {
	case g == nil:
		return fmt.Errorf("elements of type %s are not single numbers: only copies and MMA instructions take them", k)
	case g.can&what != 0:
		return nil
	}
	return fmt.Errorf("elements of type %s %s", k, strings.ReplaceAll(g.not[what], "OP", op))
}

// CanHold returns nil if an element of the kind can be a Value, or why it cannot.
func CanHold(k elem.Kind) error { return can(hold, "", k) }

// CanAddress returns nil if a single element of the kind can be read from memory and written to it, or why it
// cannot. Arguments that are Scalars need the same.
func CanAddress(k elem.Kind) error {
	if err := CanHold(k); err != nil {
		return err
	}
	return can(address, "", k)
}

// CanCompute returns nil if an operator works on values of the kind, or why it does not.
func CanCompute(op Operator, k elem.Kind) error { return can(op.needs(), op.String(), k) }

// CanConvert returns nil if values of one kind convert to another with one rounding, or why they do not.
func CanConvert(from, to elem.Kind) error {
	for _, k := range []elem.Kind{from, to} {
		if err := CanHold(k); err != nil {
			return err
		}
	}
	if from == to {
		return nil
	}
	for _, k := range []elem.Kind{from, to} {
		if k == elem.KE4M3 || k == elem.KE5M2 {
			return fmt.Errorf("%s does not convert to %s: sm_80 has no instruction for %s but those that copy its bits", from, to, k)
		}
	}
	if to == elem.KTF32 && digits(from) > digits(elem.KF32) {
		return fmt.Errorf("%s does not convert to tf32 with one rounding: convert it to f32 first", from)
	}
	return nil
}

// digits is the number of binary digits that a kind's values have.
func digits(k elem.Kind) int {
	if d, ok := floatDigits[k]; ok {
		return d
	}
	if k.IsSigned() {
		return k.Bits() - 1
	}
	return k.Bits()
}

var floatDigits = map[elem.Kind]int{elem.KF16: 11, elem.KBF16: 8, elem.KTF32: 24, elem.KF32: 24, elem.KF64: 53}

// CanCount returns nil if an integer of the kernel can become a value of the kind, or why it cannot.
func CanCount(k elem.Kind) error {
	if !k.IsFloat() {
		return CanHold(k)
	}
	return CanConvert(elem.KS64, k)
}

// IsValue returns nil if v is a value of the kind, or why it is not. Floating-point kinds round it.
func IsValue(k elem.Kind, v float64) error {
	if err := CanHold(k); err != nil || k.IsFloat() {
		return err
	}
	lo, hi := 0.0, math.Ldexp(1, k.Bits()) // v < hi
	if k.IsSigned() {
		lo, hi = -hi/2, hi/2
	}
	if v == math.Trunc(v) && lo <= v && v < hi {
		return nil
	}
	if k.IsSigned() {
		return fmt.Errorf("%v is not a value of type %s, which holds the integers %d to %d", v, k, int64(lo), int64(math.MaxInt64)>>(64-k.Bits()))
	}
	return fmt.Errorf("%v is not a value of type %s, which holds the integers 0 to %d", v, k, uint64(math.MaxUint64)>>(64-k.Bits()))
}

// Allowed returns nil if a value's own node is one that its kinds allow, or why it is not. It does not look into
// the operands.
func Allowed(v Value) error {
	switch v := v.(type) {
	case RegElem:
		return CanHold(v.Kind())
	case MemElem:
		return CanAddress(v.Kind())
	case ParamValue:
		return CanAddress(v.Kind())
	case Lit:
		return IsValue(v.Elem, v.V)
	case IntValue:
		return CanCount(v.Elem)
	case Convert:
		return CanConvert(v.X.Kind(), v.To)
	case Unary:
		return CanCompute(v.Op, v.X.Kind())
	case Binary:
		return alike(v.Op, v.X, v.Y)
	case FMA:
		return alike(FMAOp, v.X, v.Y, v.Z)
	case Select:
		return alike(SelectOp, v.X, v.Y)
	}
	return fmt.Errorf("expects a value of the C IR, but got %T", v)
}

// AllowedCmp is Allowed for a comparison of values.
func AllowedCmp(c ValCmp) error { return alike(c.Op, c.X, c.Y) }

// alike checks an operation on operands of one kind.
func alike(op Operator, xs ...Value) error {
	k := xs[0].Kind()
	for _, x := range xs {
		if x.Kind() != k {
			return fmt.Errorf("%s expects operands of one type, but got %s and %s", op, k, x.Kind())
		}
	}
	return CanCompute(op, k)
}
