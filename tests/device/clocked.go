package device

import (
	"slices"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// Clocked is a kernel with an output more, clocks (4,blocks): the cycles of its multiprocessor and the nanoseconds when
// the first thread of a block begins, after it has waited for the kernel before where it does, and the same when it ends.
// Nothing of it stays in registers meanwhile.
func Clocked(k *cir.Kernel) *cir.Kernel {
	block, blocks := sym.Int(0), sym.Int(1)
	for i, extent := range k.Grid {
		if extent.Is(0) || extent.Is(1) {
			continue
		}
		_, last := extent.Range()
		index := sym.New(&sym.Symbol{Name: "b" + string("xyz"[i]), Class: sym.Block, Hi: max(last-1, 0)})
		block = block.Add(index.Mul(blocks))
		blocks = blocks.Mul(extent)
	}
	mem := &cir.Mem{Name: "clocks", Space: cir.Global, Elem: elem.KU64, Count: blocks.Mul(sym.Int(4)), Align: 8}
	param := &cir.Param{Name: mem.Name, Class: cir.Pointer, Elem: mem.Elem, Mem: mem, Layout: "(4,blocks):(1,4)", Write: true,
		Extents: []sym.Expr{sym.Int(4), blocks}, Strides: []sym.Expr{sym.Int(1), sym.Int(4)}}
	out := *k
	out.Params = append(append([]*cir.Param{}, k.Params...), param)
	note := func(name string, at int) cir.Stmt {
		reg := &cir.Reg{Name: name, Elem: mem.Elem, Count: 1}
		then := []cir.Stmt{cir.DeclReg{Reg: reg}}
		ref := cir.RegRef{Reg: reg, Index: sym.Int(0), Elems: 1}
		for i, clock := range []cir.Clock{cir.CycleClock, cir.TimerClock} {
			to := cir.Addr{Mem: mem, Index: block.Mul(sym.Int(4)).Add(sym.Int(at + i))}
			then = append(then, cir.ReadClock{Clock: clock, Dst: ref}, cir.StoreValue{Dst: to, Value: cir.RegElem{Ref: ref}})
		}
		thread := sym.New(&sym.Symbol{Name: "tid", Class: sym.Thread, Hi: int64(k.Threads - 1)})
		return cir.If{Cond: cir.Cmp{Op: cir.EQ, X: thread, Y: sym.Int(0)}, Then: then}
	}
	begin := slices.IndexFunc(k.Body, func(s cir.Stmt) bool { _, ok := s.(cir.GridWait); return ok }) + 1
	out.Body = slices.Insert(slices.Clone(k.Body), begin, note("clocksBegin", 0))
	out.Body = append(out.Body, note("clocksEnd", 2))
	return &out
}

// GHz is the clock that ran while the blocks of a Clocked kernel did, on the average of their time; 0 where the timer's
// steps are longer than that.
func GHz(clocks []elem.U64) float64 {
	cycles, ns := 0.0, 0.0
	for i := 0; i+3 < len(clocks); i += 4 {
		cycles += float64(clocks[i+2] - clocks[i])
		ns += float64(clocks[i+3] - clocks[i+1])
	}
	if ns == 0 {
		return 0
	}
	return cycles / ns
}
