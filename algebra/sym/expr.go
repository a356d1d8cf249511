// Package sym holds the one integer expression type of the project: constants, named extents, thread
// and block indices, loop variables, and their sums, products, quotients, remainders and exclusive ors.
//
// An Expr is kept in a canonical form (a constant plus a sorted sum of products), so that two expressions
// that simplify to the same sum compare equal, and simplification happens as expressions are built.
package sym

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// Class says what a symbol stands for.
type Class uint8

// The classes of symbols.
const (
	Param  Class = iota // an extent or stride that is an argument of the kernel
	Thread              // a thread index in its block
	Block               // a block index in the grid
	Loop                // the variable of an unrolled or run-time loop
	Var                 // any other integer of the running kernel
)

// Symbol is an integer that is unknown while generating, with the facts that are known about it.
// Within one kernel its name is its identity.
type Symbol struct {
	Name     string
	Class    Class
	Lo, Hi   int64 // inclusive bounds
	Multiple int64 // a number that divides every value; 0 means 1
}

// Expr is an integer expression. The zero Expr is the constant 0. Exprs are immutable.
type Expr struct {
	k int64 // the constant part
	p *poly // nil for a constant, so that a constant is small and cheap
}

type poly struct{ t []term } // sorted by key, coefficients not zero, never empty

// terms are the summands that are not constant.
func (e Expr) terms() []term {
	if e.p == nil {
		return nil
	}
	return e.p.t
}

func newExpr(k int64, t []term) Expr {
	if len(t) == 0 {
		return Expr{k: k}
	}
	return Expr{k, &poly{t}}
}

type term struct {
	coef int64
	fac  []*atom // sorted by key; never empty
	key  string
}

// atom is what sums and products are made of: a symbol or an operation that is neither.
type atom struct {
	op     Op
	sym    *Symbol
	args   []Expr
	key    string
	lo, hi int64
	mult   int64
}

// Op names the outermost operation of an expression, as View shows it.
type Op uint8

// The operations of an expression.
const (
	Const Op = iota
	Sym
	Add // of two or more arguments
	Mul // of two or more arguments
	Div // floor(a / b), b > 0
	Mod // a - b*floor(a / b), b > 0
	Xor // bitwise exclusive or of two or more non-negative arguments
	Min // of two arguments
	Max // of two arguments

	Beyond // TooLarge
)

var opNames = [...]string{"const", "sym", "+", "*", "/", "%", "^", "min", "max", "beyond 63 bits"}

func (o Op) String() string { return opNames[o] }

// Int is the constant n.
func Int[N ~int | ~int64](n N) Expr { return Expr{k: int64(n)} }

// New is the expression that consists of s alone.
func New(s *Symbol) Expr {
	if s.Lo == s.Hi {
		return Expr{k: s.Lo}
	}
	return fromAtom(&atom{op: Sym, sym: s, key: s.Name, lo: s.Lo, hi: s.Hi, mult: max(1, s.Multiple)})
}

func fromAtom(a *atom) Expr {
	return newExpr(0, []term{{coef: 1, fac: []*atom{a}, key: a.key}})
}

// IsConst returns the value of a constant expression.
func (e Expr) IsConst() (int64, bool) { return e.k, e.p == nil }

// Is reports whether e is the constant n.
func (e Expr) Is(n int64) bool { return e.p == nil && e.k == n }

// Equal reports whether the canonical forms of e and f are the same. What is TooLarge is equal to nothing.
func (e Expr) Equal(f Expr) bool {
	return !e.TooLarge() && e.k == f.k && slices.EqualFunc(e.terms(), f.terms(), func(a, b term) bool { return a.coef == b.coef && a.key == b.key })
}

// Key is a text that is the same for two expressions exactly if they are Equal.
func (e Expr) Key() string {
	var b strings.Builder
	for _, t := range e.terms() {
		fmt.Fprintf(&b, "%d*%s+", t.coef, t.key)
	}
	fmt.Fprintf(&b, "%d", e.k)
	return b.String()
}

// Add is e + f.
func (e Expr) Add(f Expr) Expr {
	k, ok := addInt(e.k, f.k)
	if !ok || e.TooLarge() || f.TooLarge() || len(e.terms())+len(f.terms()) > mostTerms {
		return tooLarge
	}
	if e.p == nil && f.p == nil {
		return Expr{k: k}
	}
	out := make([]term, 0, len(e.terms())+len(f.terms()))
	i, j, merged := 0, 0, false
	for i < len(e.terms()) || j < len(f.terms()) {
		switch {
		case j == len(f.terms()) || i < len(e.terms()) && e.terms()[i].key < f.terms()[j].key:
			out = append(out, e.terms()[i])
			i++
		case i == len(e.terms()) || f.terms()[j].key < e.terms()[i].key:
			out = append(out, f.terms()[j])
			j++
		default:
			c, ok := addInt(e.terms()[i].coef, f.terms()[j].coef)
			if !ok {
				return tooLarge
			}
			if c != 0 {
				out = append(out, term{coef: c, fac: e.terms()[i].fac, key: e.terms()[i].key})
			}
			i, j, merged = i+1, j+1, true
		}
	}
	if merged {
		return newExpr(k, out).xorsScaled()
	}
	return newExpr(k, out)
}

// Neg is -e.
func (e Expr) Neg() Expr { return e.scale(-1) }

// Sub is e - f.
func (e Expr) Sub(f Expr) Expr {
	if e.p == nil && f.p == nil { // -f alone may not fit
		d := e.k - f.k
		if (e.k < 0) != (f.k < 0) && (d < 0) != (e.k < 0) {
			return tooLarge
		}
		return Expr{k: d}
	}
	return e.Add(f.scale(-1))
}

func (e Expr) scale(c int64) Expr {
	if c == 0 && !e.TooLarge() {
		return Expr{}
	}
	k, ok := mulInt(e.k, c)
	if !ok || e.TooLarge() {
		return tooLarge
	}
	if e.p == nil {
		return Expr{k: k}
	}
	ts := make([]term, len(e.terms()))
	for i, t := range e.terms() {
		coef, ok := mulInt(t.coef, c)
		if !ok {
			return tooLarge
		}
		ts[i] = term{coef: coef, fac: t.fac, key: t.key}
	}
	return newExpr(k, ts).xorsScaled()
}

// xorsScaled moves powers of two into exclusive ors, where they stay an immediate of one instruction. Every sum is so,
// so that reading the text of one gives it again.
func (e Expr) xorsScaled() Expr {
	for i, t := range e.terms() {
		c, sign := t.coef, int64(1)
		if c < 0 {
			c, sign = -c, -1 // the text has the sign in front: -2*xor(A,1) reads as 2*xor(A,1) taken away
		}
		if c < 2 || !pow2(c) || len(t.fac) != 1 || t.fac[0].op != Xor {
			continue
		}
		x := Expr{}
		for _, a := range t.fac[0].args {
			x = x.Xor(a.scale(c))
		}
		x = x.scale(sign)
		return newExpr(e.k, slices.Delete(slices.Clone(e.terms()), i, i+1)).Add(x)
	}
	return e
}

// Mul is e * f.
func (e Expr) Mul(f Expr) Expr {
	if f.p == nil {
		return e.scale(f.k)
	}
	if e.p == nil {
		return f.scale(e.k)
	}
	if e.TooLarge() || f.TooLarge() || (len(e.terms())+1)*(len(f.terms())+1) > mostTerms || e.degree()+f.degree() > mostTerms {
		return tooLarge
	}
	out := e.scale(f.k)
	for _, tf := range f.terms() {
		out = out.Add(newExpr(0, []term{{coef: tf.coef, fac: tf.fac, key: tf.key}}).scale(e.k))
		for _, te := range e.terms() {
			coef, ok := mulInt(te.coef, tf.coef)
			if !ok {
				return tooLarge
			}
			fac := slices.Concat(te.fac, tf.fac)
			sort.SliceStable(fac, func(i, j int) bool { return fac[i].key < fac[j].key })
			out = out.Add(newExpr(0, []term{{coef: coef, fac: fac, key: facKey(fac)}}))
		}
	}
	return out
}

func facKey(fac []*atom) string {
	keys := make([]string, len(fac))
	for i, a := range fac {
		keys[i] = a.key
	}
	return strings.Join(keys, "*")
}

// View is the outermost operation of an expression: what a printer or an evaluator switches on.
type View struct {
	Op    Op
	Value int64   // of a Const
	Sym   *Symbol // of a Sym
	Args  []Expr  // of everything else
}

// View takes e apart by one level. A sum lists its terms in canonical order, the constant last.
func (e Expr) View() View {
	switch {
	case e.p == nil:
		return View{Op: Const, Value: e.k}
	case len(e.terms()) > 1 || e.k != 0:
		var args []Expr
		for _, t := range e.terms() {
			args = append(args, newExpr(0, []term{t}))
		}
		if e.k != 0 {
			args = append(args, Expr{k: e.k})
		}
		return View{Op: Add, Args: args}
	}
	t := e.terms()[0]
	if t.coef == 1 && len(t.fac) == 1 {
		a := t.fac[0]
		return View{Op: a.op, Sym: a.sym, Args: a.args}
	}
	var args []Expr
	for _, a := range t.fac {
		args = append(args, fromAtom(a))
	}
	if t.coef != 1 {
		args = append(args, Expr{k: t.coef})
	}
	return View{Op: Mul, Args: args}
}

// Symbols returns the symbols of e, each once, in order of their names.
func (e Expr) Symbols() []*Symbol {
	seen := map[string]*Symbol{}
	e.visit(seen)
	out := make([]*Symbol, 0, len(seen))
	for _, s := range seen {
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Mentions reports whether the symbol of a name occurs in e.
func (e Expr) Mentions(name string) bool {
	return slices.ContainsFunc(e.Symbols(), func(x *Symbol) bool { return x.Name == name })
}

func (e Expr) visit(seen map[string]*Symbol) {
	for _, t := range e.terms() {
		for _, a := range t.fac {
			if a.op == Sym {
				seen[a.sym.Name] = a.sym
			}
			for _, x := range a.args {
				x.visit(seen)
			}
		}
	}
}

// Terms returns the summands of e, the constant last (if it is not zero).
func (e Expr) Terms() []Expr {
	if v := e.View(); v.Op == Add {
		return v.Args
	}
	return []Expr{e}
}

// Sum adds any number of expressions.
func Sum(es ...Expr) Expr {
	var out Expr
	for _, e := range es {
		out = out.Add(e)
	}
	return out
}

// Product multiplies any number of expressions.
func Product(es ...Expr) Expr {
	out := Int(1)
	for _, e := range es {
		out = out.Mul(e)
	}
	return out
}

func pow2(n int64) bool { return n > 0 && bits.OnesCount64(uint64(n)) == 1 }
