// Package lower turns tile IR into C IR: layouts become integers, views become addresses, copies and gemms become
// loops over instructions. Nothing of a layout is left afterwards.
package lower

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/gen/cir"
)

// Pass is one step of the lowering.
type Pass struct {
	Name  string
	After string // the pass that must have run, and why is in Why
	Why   string
	run   func(*state) error
}

// Passes lists the steps in the order in which they run.
func Passes() []Pass {
	return []Pass{
		{Name: "place", Why: "gives every storage its array, and shared arrays their offsets", run: place},
		{Name: "expand", After: "place", Why: "addresses need the arrays", run: expand},
		{Name: "finish", After: "expand", Why: "the alignment of arguments is what the expanded accesses rely on", run: finish},
	}
}

// state is a kernel on its way down.
type state struct {
	in      *ir.Kernel
	out     *cir.Kernel
	mems    map[*ir.Storage]*cir.Mem
	regs    map[*ir.Storage]*cir.Reg
	lets    []cir.Stmt          // invariants, declared at the top
	opaques []*opaque           // in scope, outermost first
	depth   int                 // of the body that is being lowered, from 1
	seen    map[string]sym.Expr // their symbols, by the key of the expression
	used    map[string]bool     // names in the emitted code
	open    map[string]bool     // loop names in use where code is being emitted
	ops     map[string]*cir.Op  // intrinsics by name
}

// Lower runs the passes over a kernel whose Err is nil. An error is our own mistake, but for a function of elements that does
// not do the same whenever it is called.
func Lower(k *ir.Kernel) (out *cir.Kernel, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, caught(k.Name, r)
		}
	}()
	s := &state{in: k, mems: map[*ir.Storage]*cir.Mem{}, regs: map[*ir.Storage]*cir.Reg{}, seen: map[string]sym.Expr{},
		used: map[string]bool{}, open: map[string]bool{}, ops: map[string]*cir.Op{}}
	s.out = &cir.Kernel{Name: k.Name, Doc: k.Doc, Params: k.Params, Maps: k.Maps, Threads: k.Threads, MinBlocks: k.MinBlocks,
		Grid: k.Grid, Requires: k.Requires, Arch: 80}
	for _, p := range Passes() {
		if err := p.run(s); err != nil {
			return nil, fmt.Errorf("internal error: %s: pass %s: %w", k.Name, p.Name, err)
		}
	}
	if err := cir.Verify(s.out); err != nil {
		return nil, fmt.Errorf("internal error: %s: %w", k.Name, err)
	}
	return s.out, nil
}

// place makes the arrays that storages live in.
func place(s *state) error {
	for _, p := range s.in.Params {
		s.used[p.Name] = true
	}
	for _, st := range s.in.Storages {
		s.used[st.Name] = true
		if st.Space == ir.Register {
			s.regs[st] = &cir.Reg{Name: st.Name, Elem: st.Elem, Count: int(roundUp(st.Count, int64(max(1, 32/st.Elem.Bits()))))}
		}
	}
	s.reserve(s.in.Body)
	places, total := ir.PlaceShared(s.in.Storages)
	for _, p := range places {
		m := &cir.Mem{Name: p.Storage.Name, Space: cir.Shared, Elem: p.Storage.Elem, Count: sym.Int(p.Storage.Count), Align: p.Align, Offset: p.Offset}
		s.mems[p.Storage] = m
		s.out.Shared = append(s.out.Shared, m)
	}
	s.out.SmemBytes = total
	return nil
}

// reserve keeps the kernel's own integers from being taken for a loop's name.
func (s *state) reserve(ops []ir.Op) {
	for _, op := range ops {
		switch op := op.(type) {
		case ir.StmtOp:
			switch x := op.Stmt.(type) {
			case cir.Let:
				s.used[x.Sym.Name] = true
			case cir.Var:
				s.used[x.Sym.Name] = true
			}
		case ir.ArriveOp:
			s.used[op.Sym.Name] = true
		case ir.LoopOp:
			s.reserve(op.Body)
		case ir.IfOp:
			s.reserve(op.Then)
			s.reserve(op.Else)
		}
	}
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// mem is the array of a global or shared storage.
func (s *state) mem(st *ir.Storage) *cir.Mem {
	if st.Param != nil {
		return st.Param.Mem
	}
	return s.mems[st]
}

// expand lowers every operation.
func expand(s *state) error {
	body, err := s.ops2stmts(s.in.Body)
	if err != nil {
		return err
	}
	var regs []cir.Stmt
	for _, st := range s.in.Storages {
		if st.Space == ir.Register {
			regs = append(regs, cir.DeclReg{Reg: s.regs[st]})
		}
	}
	s.out.Body = append(append(s.lets, regs...), body...)
	return nil
}

func (s *state) ops2stmts(ops []ir.Op) ([]cir.Stmt, error) {
	s.depth++
	out, err := s.body(ops)
	s.depth--
	return out, err
}

// body lowers a body from some operation on. What is computed from an opaque value is declared after it.
func (s *state) body(ops []ir.Op) ([]cir.Stmt, error) {
	var out []cir.Stmt
	for i, op := range ops {
		stmts, err := s.lowerOp(op)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", op.Position().File, op.Position().Line, err)
		}
		out = append(out, stmts...)
		st, _ := op.(ir.StmtOp)
		l, _ := st.Stmt.(cir.Let)
		if !l.Opaque {
			continue
		}
		o := &opaque{sym: l.Sym, depth: s.depth}
		s.opaques = append(s.opaques, o)
		rest, err := s.body(ops[i+1:])
		s.opaques = s.opaques[:len(s.opaques)-1]
		for _, k := range o.keys {
			delete(s.seen, k)
		}
		return append(append(out, o.lets...), rest...), err
	}
	return out, nil
}

func (s *state) lowerOp(op ir.Op) ([]cir.Stmt, error) {
	switch op := op.(type) {
	case ir.StmtOp:
		if l, ok := op.Stmt.(cir.Let); ok && !l.Opaque && s.fixed(l.Value) && s.home(l.Value) == nil { // addresses at the top may use it
			s.let(l)
			return nil, nil
		}
		return []cir.Stmt{op.Stmt}, nil
	case ir.LoopOp:
		s.open[op.Sym.Name] = true
		body, err := s.ops2stmts(op.Body)
		delete(s.open, op.Sym.Name)
		return []cir.Stmt{cir.For{Pos: op.Pos, Sym: op.Sym, Lo: op.Lo, Hi: op.Hi, Unroll: op.Unroll, Body: body}}, err
	case ir.IfOp:
		then, err := s.ops2stmts(op.Then)
		if err != nil {
			return nil, err
		}
		otherwise, err := s.ops2stmts(op.Else)
		return []cir.Stmt{cir.If{Pos: op.Pos, Cond: op.Cond, Then: then, Else: otherwise}}, err
	case ir.FillOp:
		return s.fill(op)
	case ir.CopyOp:
		return s.copy(op)
	case ir.GemmOp:
		return s.gemm(op)
	case ir.MapOp:
		return s.mapValues(op)
	case ir.MBarrierOp:
		return s.mbarrier(op)
	case ir.ShuffleOp:
		return s.shuffle(op)
	case ir.VoteOp:
		return s.vote(op)
	case ir.AtomicOp:
		return s.atomic(op)
	case ir.ArriveOp:
		return s.arrive(op)
	case ir.ClockOp:
		return s.readClock(op)
	case ir.TensorCopyOp:
		return s.tensorCopy(op)
	case ir.WarpgroupGemmOp:
		return s.warpgroupGemm(op)
	case ir.WarpgroupWaitOp:
		return s.warpgroupWait(op)
	}
	return nil, fmt.Errorf("no lowering for %T", op)
}

// finish fills in what the launcher must know.
func finish(s *state) error {
	for _, st := range s.in.Storages {
		if st.Space == ir.Global {
			return fmt.Errorf("global storage %s among the kernel's own", st.Name)
		}
	}
	if arch, ok := cir.SharedArch(s.out.SmemBytes); ok {
		s.out.Arch = max(s.out.Arch, arch)
	}
	for _, op := range s.ops {
		s.out.Arch = max(s.out.Arch, op.Arch)
	}
	cir.Walk(s.out.Body, func(st cir.Stmt) {
		switch st := st.(type) {
		case cir.Load:
			needAlign(st.Src, st.Dst.Bits()/8)
		case cir.Store:
			needAlign(st.Dst, st.Src.Bits()/8)
		case cir.CpAsyncStmt:
			needAlign(st.Src, st.Op.Bytes)
			needAlign(st.Dst, st.Op.Bytes)
		case cir.TensorLoad:
			st.Map.Of.Mem.Align = max(st.Map.Of.Mem.Align, 16)
		}
	})
	return nil
}

// intrinsicNamed is the C IR's instruction of a name, made once for each kernel.
func (s *state) intrinsicNamed(name string, make func() *cir.Op) *cir.Op {
	if s.ops[name] == nil {
		s.ops[name] = make()
	}
	return s.ops[name]
}

func needAlign(a cir.Addr, bytes int) { a.Mem.Align = max(a.Mem.Align, bytes) }
