package dsl

import (
	"math"
	"path/filepath"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// GridDependencySynchronize waits until the kernel before this one on the stream is over and its writes can be seen. A
// kernel that calls it may be started before that one has ended, which hides the launch (programmatic dependent launch,
// from sm_90 on; the launcher asks for it, and elsewhere the call does nothing). It must come before anything that reads
// or writes memory: first in the kernel, after Threads, Grid and the declarations.
func (k *K) GridDependencySynchronize() {
	given("GridDependencySynchronize", k)
	const op = "GridDependencySynchronize"
	if k.body != &k.kernel.ir.Body {
		k.errorf(op, "expects to be called for all threads, but it is in the body of a Loop, an Unroll or an If")
		return
	}
	for _, o := range k.kernel.ir.Body {
		if s, ok := o.(ir.StmtOp); ok {
			if _, ok := s.Stmt.(cir.GridWait); ok {
				k.errorf(op, "expects one call, but the kernel already waits")
				return
			}
		}
	}
	if o := touching(k.kernel.ir.Body); o != nil {
		p := o.Position()
		k.errorf(op, "expects to come before everything that may touch memory, but %s:%d comes before it", filepath.Base(p.File), p.Line)
		return
	}
	k.add(ir.StmtOp{Stmt: cir.GridWait{Pos: k.position()}})
}

// touching is the first operation that may touch global memory, or nil.
func touching(ops []ir.Op) ir.Op {
	for _, o := range ops {
		switch o := o.(type) {
		case ir.StmtOp, ir.FillOp, ir.MBarrierOp, ir.ClockOp:
		case ir.LoopOp:
			if t := touching(o.Body); t != nil {
				return t
			}
		case ir.IfOp:
			for _, body := range [][]ir.Op{o.Then, o.Else} {
				if t := touching(body); t != nil {
					return t
				}
			}
		default:
			return o
		}
	}
	return nil
}

// TriggerLaunchCompletion lets the next kernel on the stream start as soon as all blocks of this one have called it or
// have ended, if that kernel begins with GridDependencySynchronize: it will wait there for this one's end. It promises
// nothing of what this block has written.
func (k *K) TriggerLaunchCompletion() {
	given("TriggerLaunchCompletion", k)
	k.add(ir.StmtOp{Stmt: cir.GridTrigger{Pos: k.position()}})
}

// Arrive counts the block in at a counter, one element of a global tensor of u32 that is zero before the kernel runs, and
// returns how many blocks came before it, 0 to of-1. After of blocks the counter is back at zero. What the threads of those blocks
// had written to global memory before can be read from here on, so the last to come may finish what all have prepared.
// All threads of the block must call it; it includes barriers. No block waits for another.
func Arrive(k *K, counter Tensor[Gmem, elem.U32], of any) Expr {
	bad := Expr{k: k, err: errReported}
	switch own := together("Arrive", origin(counter)); {
	case own == nil:
		return bad
	case own != k:
		own.errorf("Arrive", "expects this kernel's K, but got %s", map[bool]string{true: "one that was never set", false: "another kernel's"}[k == nil])
		return Expr{k: own, err: errReported}
	}
	n, ok := k.expr("Arrive", of)
	if !ok || !k.usable("Arrive", counter.t) || !k.inScope("Arrive", n) {
		return bad
	}
	lo, hi := n.Range()
	size, known := counter.t.Layout.Shape().Size().IsConst()
	p := counter.t.Storage.Param
	switch {
	case lo < 1:
		k.errorf("Arrive", "expects a count of 1 or more blocks, but %s may be %d", n, lo)
		return bad
	case lo > math.MaxInt32:
		k.errorf("Arrive", "expects a count of at most 2^31-1 blocks, but %s is at least %d", n, lo)
		return bad
	case !known || size != 1:
		k.errorf("Arrive", "expects one element, but %s has shape %s: select one with At", counter.t.Name, counter.t.Layout.Shape())
		return bad
	case p != nil && !(p.Read && p.Write):
		k.errorf("Arrive", "expects a tensor that may be read and written, but %s was not declared with InOut", p.Name)
		return bad
	case k.perThread(counter.t.Offset, n):
		k.errorf("Arrive", "expects one counter and one count for the whole block, but they depend on the thread")
		return bad
	}
	if k.arrived.t == nil {
		k.arrived = shared[elem.U32](k, k.unused("arrived"), Shape(1), ir.Storage{Alone: true})
	}
	s := &sym.Symbol{Name: k.fresh("arrival"), Class: sym.Var, Hi: hi - 1}
	k.symbols[s.Name] = &scope{open: true, pos: k.position()}
	t := *counter.t
	t.Layout = algebra.MustParse("(1):(0)")
	k.add(ir.ArriveOp{Pos: k.position(), Sym: s, Counter: &t, Word: k.arrived.t, Count: n})
	return Expr{e: sym.New(s), k: k}
}

// perThread reports whether an expression depends on the thread, also by way of Lets, Vars and loops.
func (k *K) perThread(es ...sym.Expr) bool {
	for _, e := range es {
		for _, s := range e.Symbols() {
			if sc := k.symbols[s.Name]; s.Class == sym.Thread || sc != nil && sc.thread {
				return true
			}
		}
	}
	return false
}
