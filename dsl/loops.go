package dsl

import (
	"math"
	"slices"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/gen/cir"
)

// Loop is a run-time loop of the kernel over lo, lo+1, …, hi-1, as they are when it begins. Its variable cannot select fragments.
func (k *K) Loop(lo, hi any, body func(i Expr)) {
	given("Loop", k)
	a, ok1 := k.expr("Loop", lo)
	b, ok2 := k.expr("Loop", hi)
	if ok1 && ok2 {
		k.loop("Loop", "t", a, b, false, body)
	}
}

// Unroll is a loop of the kernel over 0, 1, …, n-1 that nvcc unrolls; its variable may select fragments.
func (k *K) Unroll(n int, body func(i Expr)) {
	given("Unroll", k)
	if n < 0 {
		k.errorf("Unroll", "expects a count of 0 or more, but got %d", n)
		return
	}
	k.loop("Unroll", "k", sym.Int(0), sym.Int(n), true, body)
}

func (k *K) loop(op, name string, lo, hi sym.Expr, unroll bool, body func(i Expr)) {
	if !k.function(op, body == nil) {
		return
	}
	pos := k.position()
	first, _ := lo.Range()
	_, last := hi.Range()
	s := &sym.Symbol{Name: k.fresh(name), Class: sym.Loop, Lo: first, Hi: max(first, last-1)}
	var ops []ir.Op
	perThread := k.perThread(lo, hi)
	k.inBody(s.Name, pos, unroll, &ops, func() {
		k.symbols[s.Name].thread = perThread
		body(Expr{e: sym.New(s), k: k})
	})
	completeRound(ops)
	if sets(ops, hi) { // the loop goes as far as when it began
		first, last := hi.Range()
		end := &sym.Symbol{Name: k.fresh("end"), Class: sym.Var, Lo: first, Hi: last, Multiple: hi.Multiple()}
		k.symbols[end.Name] = &scope{open: true, thread: perThread, pos: pos}
		k.add(ir.StmtOp{Stmt: cir.Let{Pos: pos, Sym: end, Value: hi}})
		hi = sym.New(end)
	}
	k.add(ir.LoopOp{Pos: pos, Sym: s, Lo: lo, Hi: hi, Unroll: unroll, Body: ops})
}

// sets reports whether operations set a variable of e.
func sets(ops []ir.Op, e sym.Expr) bool {
	return slices.ContainsFunc(ops, func(op ir.Op) bool {
		switch op := op.(type) {
		case ir.StmtOp:
			a, ok := op.Stmt.(cir.Assign)
			return ok && e.Mentions(a.Sym.Name)
		case ir.LoopOp:
			return sets(op.Body, e)
		case ir.IfOp:
			return sets(op.Then, e) || sets(op.Else, e)
		}
		return false
	})
}

// inBody records into ops while f runs; name is visible meanwhile.
func (k *K) inBody(name string, pos cir.Pos, unroll bool, ops *[]ir.Op, f func()) {
	outer := k.body
	sc := &scope{open: true, unroll: unroll, pos: pos}
	if name != "" {
		k.symbols[name] = sc
	}
	before := map[string]bool{}
	for n := range k.symbols {
		before[n] = true
	}
	k.body = ops
	f()
	k.body = outer
	sc.open = false
	for n, s := range k.symbols { // Vars of the body end with it
		if !before[n] {
			s.open = false
		}
	}
}

// If records a branch of the kernel; otherwise may be nil.
func (k *K) If(c Cond, then func(), otherwise func()) {
	given("If", k)
	pos := k.position()
	if err := c.mistake(); err != nil {
		k.errorf("If", "%v", err)
		return
	}
	if !k.function("If", then == nil) {
		return
	}
	if ofData(c.c) {
		k.errorf("If", "a branch of the kernel cannot depend on an element of a tensor: expects a condition on integers (Expr, Var, Dim) or Scalars; inside the function of a Map, choose between two values with Select")
		return
	}
	if !k.ownValues("If", cir.Select{Cond: c.c}) || !k.inScope("If", c.use...) {
		return
	}
	op := ir.IfOp{Pos: pos, Cond: c.c}
	k.inBody("", pos, false, &op.Then, then)
	if otherwise != nil {
		k.inBody("", pos, false, &op.Else, otherwise)
	}
	k.add(op)
}

// mostCases is how many cases a Switch may have; the last one is reached by as many comparisons.
const mostCases = 256

// Switch records body(0), …, body(n-1), of which the kernel takes the one of i, which is below n, at most 256: what a Loop's variable
// cannot do, it can, and choose among fragments.
func (k *K) Switch(i any, n int, body func(i int)) {
	given("Switch", k)
	e, ok := k.expr("Switch", i)
	if !ok || !k.function("Switch", body == nil) {
		return
	}
	if n < 1 || n > mostCases {
		k.errorf("Switch", "expects 1 to %d cases, but got %d", mostCases, n)
		return
	}
	if lo, hi := e.Range(); lo < 0 || hi >= int64(n) {
		k.errorf("Switch", "expects an index below its %d cases, but %s is from %d to %d", n, e, lo, hi)
		return
	}
	k.switchFrom(Expr{k: k, e: e}, 0, n, body)
}

func (k *K) switchFrom(i Expr, first, n int, body func(int)) {
	if first == n-1 {
		body(first)
		return
	}
	k.If(i.Eq(first), func() { body(first) }, func() { k.switchFrom(i, first+1, n, body) })
}

// Let gives an integer a name in the emitted code, where it is computed once.
func (k *K) Let(name string, x any) Expr {
	given("Let", k)
	return k.let("Let", name, x, false)
}

// Opaque is Let for a value that nvcc must take as unknown: what depends on it is computed after this place, again in each
// round of a loop. Indices that are seldom needed do not take registers then while a main loop needs them.
func (k *K) Opaque(name string, x any) Expr {
	given("Opaque", k)
	return k.let("Opaque", name, x, true)
}

func (k *K) let(op, name string, x any, opaque bool) Expr {
	e, ok := k.expr(op, x)
	if !ok {
		return Expr{k: k, err: errReported}
	}
	if why := badName(name); why != "" {
		k.errorf(op, "%s", why)
		return Expr{k: k, err: errReported}
	}
	if _, isConst := e.IsConst(); isConst && !opaque {
		return Expr{e: e, k: k}
	}
	lo, hi := e.Range()
	multiple := e.Multiple()
	if opaque && lo == hi && hi < math.MaxInt64 { // an opaque value of one more keeps this one from being put in its place
		hi, multiple = hi+1, 1
	}
	s := &sym.Symbol{Name: k.fresh(name), Class: sym.Var, Lo: lo, Hi: hi, Multiple: multiple}
	k.symbols[s.Name] = &scope{open: true, thread: k.perThread(e), pos: k.position()}
	k.add(ir.StmtOp{Stmt: cir.Let{Pos: k.position(), Sym: s, Value: e, Opaque: opaque}})
	return Expr{e: sym.New(s), k: k}
}

// Var is an integer variable of the kernel, carried from one round of a loop to the next.
type Var struct {
	k    *K
	sym  *sym.Symbol
	Expr // its value now
}

// Var declares a variable. Its values must stay within lo and hi; the emulator checks that they do.
func (k *K) Var(name string, init any, lo, hi int64) Var {
	given("Var", k)
	e, ok := k.expr("Var", init)
	if !ok {
		return Var{k: k, Expr: Expr{k: k, err: errReported}}
	}
	if why := badName(name); why != "" {
		k.errorf("Var", "%s", why)
		return Var{k: k, Expr: Expr{k: k, err: errReported}}
	}
	if lo > hi {
		k.errorf("Var", "%s expects bounds from the least to the greatest value, but got %d and %d", name, lo, hi)
		return Var{k: k, Expr: Expr{k: k, err: errReported}}
	}
	s := &sym.Symbol{Name: k.fresh(name), Class: sym.Var, Lo: lo, Hi: max(hi, lo+1)}
	k.symbols[s.Name] = &scope{open: true, thread: k.perThread(e), pos: k.position()}
	k.add(ir.StmtOp{Stmt: cir.Var{Pos: k.position(), Sym: s, Init: e}})
	return Var{k: k, sym: s, Expr: Expr{e: sym.New(s), k: k}}
}

// Set changes the variable.
func (v Var) Set(x any) {
	if v.sym == nil {
		return
	}
	if e, ok := v.k.expr("Set", x); ok && v.k.inScope("Set", sym.New(v.sym)) {
		v.k.symbols[v.sym.Name].thread = v.k.symbols[v.sym.Name].thread || v.k.perThread(e)
		v.k.add(ir.StmtOp{Stmt: cir.Assign{Pos: v.k.position(), Sym: v.sym, Value: e}})
	}
}

// Barrier waits for all threads of the block.
func (k *K) Barrier() {
	given("Barrier", k)
	k.add(ir.StmtOp{Stmt: cir.Barrier{Pos: k.position()}})
}

// CommitGroup closes the thread's current group of asynchronous copies.
func (k *K) CommitGroup() {
	given("CommitGroup", k)
	k.add(ir.StmtOp{Stmt: cir.CommitGroup{Pos: k.position()}})
}

// WaitGroup waits until at most n of the thread's groups are still in flight.
func (k *K) WaitGroup(n int) {
	given("WaitGroup", k)
	if n < 0 {
		k.errorf("WaitGroup", "expects 0 or more groups, but got %d", n)
		return
	}
	k.add(ir.StmtOp{Stmt: cir.WaitGroup{Pos: k.position(), Pending: n}})
}

// Comment adds a comment to the emitted code, of at most 64 KiB. What cannot be printed stands there as <U+0007>.
func (k *K) Comment(text string) {
	given("Comment", k)
	if k.fits("Comment", text, 0) {
		k.add(ir.StmtOp{Stmt: cir.Comment{Pos: k.position(), Text: text}})
	}
}
