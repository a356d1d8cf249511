package emu

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

func sortedKeys[V any](m map[int64]V) []int64 { return slices.Sorted(maps.Keys(m)) }

// slot is where a symbol's value lies in a warp.
type slot struct {
	lane bool
	at   int
}

// compiler turns a kernel's statements into closures over the slots of a warp.
type compiler struct {
	prog    *program
	bound   *binding
	lanes   map[string]bool // symbols whose values may differ between the lanes of a warp
	printed map[string]cType
	scopes  []map[string]slot
	regs    map[*cir.Reg]*register
	globals map[*cir.Mem]*gmem
	shared  map[*cir.Mem]*smem
	pos     cir.Pos
}

// fail ends the compilation of C IR that no verified kernel has; compile catches it.
func (c *compiler) fail(format string, args ...any) {
	panic(&KernelError{Pos: c.pos, Kernel: c.prog.name, Message: fmt.Sprintf(format, args...), malformed: true})
}

// refuse ends the compilation of a kernel that is right, but cannot be run so.
func (c *compiler) refuse(format string, args ...any) {
	panic(&KernelError{Pos: c.pos, Kernel: c.prog.name, Message: fmt.Sprintf(format, args...)})
}

func compile(k *cir.Kernel, b *binding, opt Options) (p *program, err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case *KernelError:
			p, err = nil, cause
		default:
			panic(cause)
		}
	}()
	p = &program{name: k.Name, check: !opt.NoChecks, exact: opt.Exact, threads: k.Threads, warps: (k.Threads + 31) / 32, grid: b.grid,
		uniforms: numUniform, lanes: numLanes, pos: []cir.Pos{{}}}
	c := &compiler{prog: p, bound: b, regs: map[*cir.Reg]*register{},
		printed: map[string]cType{}, globals: map[*cir.Mem]*gmem{}, shared: map[*cir.Mem]*smem{}}
	c.layOut(k)
	c.globalMemory(k)
	c.lanes = c.varying(k.Body)
	p.body = c.block(k.Body)
	return p, nil
}

func (c *compiler) needInts(depth int) { c.prog.scale.ints = max(c.prog.scale.ints, depth+1) }

// block compiles a body in a scope of its own.
func (c *compiler) block(body []cir.Stmt) []step {
	c.scopes = append(c.scopes, map[string]slot{})
	var out []step
	for _, s := range body {
		c.pos = s.Position()
		id := int32(len(c.prog.pos))
		c.prog.pos = append(c.prog.pos, c.pos)
		if run := c.stmt(s); run != nil {
			out = append(out, step{id: id, run: run})
		}
	}
	c.scopes = c.scopes[:len(c.scopes)-1]
	return out
}

func (c *compiler) stmt(s cir.Stmt) func(*warp) {
	switch s := s.(type) {
	case cir.Comment:
		return nil
	case cir.Let:
		return c.let(s)
	case cir.Var:
		guard := c.guard(0, s.Init)
		c.printed[s.Sym.Name] = cType{wide: !fits32(s.Sym.Lo, s.Sym.Hi)}
		return guarded(guard, c.set(s.Sym, c.declare(s.Sym, c.lanes[s.Sym.Name]), c.expr(s.Init, 0)))
	case cir.Assign:
		return c.assign(s)
	case cir.DeclReg:
		return c.declReg(s.Reg)
	case cir.Fill:
		return c.fill(s)
	case cir.For:
		return c.loop(s)
	case cir.If:
		return c.branch(s)
	case cir.Barrier:
		c.prog.yields = true
		return (*warp).barrier
	case cir.CommitGroup:
		return c.commit()
	case cir.WaitGroup:
		return c.wait(s)
	case cir.MBarrierInit:
		return c.mbarrierInit(s)
	case cir.MBarrierArrive:
		return c.mbarrierArrive(s)
	case cir.CpAsyncArrive:
		return c.cpAsyncArrive(s)
	case cir.MBarrierWait:
		return c.mbarrierWait(s)
	case cir.Load:
		return c.load(s)
	case cir.Store:
		return c.store(s)
	case cir.SetReg:
		return c.setReg(s)
	case cir.SetWord:
		return c.setWord(s)
	case cir.StoreValue:
		return c.storeValue(s)
	case cir.MMAStmt:
		return c.mma(s)
	case cir.LdMatrixStmt:
		return c.ldmatrix(s)
	case cir.StMatrixStmt:
		return c.stmatrix(s)
	case cir.WarpMoveStmt:
		return c.warpMove(s)
	case cir.CpAsyncStmt:
		return c.cpAsync(s)
	case cir.MBarrierExpect, cir.TensorLoad, cir.WarpgroupMMA, cir.WarpgroupArrive, cir.WarpgroupCommit, cir.WarpgroupWait:
		return c.hopper(s)
	case cir.SyncWarp:
		return c.syncWarp()
	case cir.NamedBarrier:
		return c.namedBarrier(s)
	case cir.Shuffle:
		return c.shuffle(s)
	case cir.Vote:
		return c.vote(s)
	case cir.Atomic:
		return c.atomic(s)
	case cir.Arrive:
		return c.arrive(s)
	case cir.GridWait, cir.GridTrigger: // there is no other grid
		return nil
	case cir.ReadClock:
		return c.readClock(s)
	}
	c.fail("unknown statement %T", s)
	return nil
}

// hopper compiles the statements of sm_90.
func (c *compiler) hopper(s cir.Stmt) func(*warp) {
	switch s := s.(type) {
	case cir.MBarrierExpect:
		return c.mbarrierExpect(s)
	case cir.TensorLoad:
		return c.tensorLoad(s)
	case cir.WarpgroupMMA:
		return c.warpgroupMMA(s)
	case cir.WarpgroupArrive:
		return c.warpgroupArrive()
	case cir.WarpgroupCommit:
		return c.warpgroupCommit()
	case cir.WarpgroupWait:
		return c.warpgroupWait(s)
	}
	return nil
}

// Symbols.

func (c *compiler) lookup(name string) (slot, bool) {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if s, ok := c.scopes[i][name]; ok {
			return s, true
		}
	}
	return slot{}, false
}

// isThread reports whether a symbol is threadIdx.x.
func (c *compiler) isThread(s *sym.Symbol) bool {
	if s.Class != sym.Thread || strings.HasSuffix(s.Name, ".y") || strings.HasSuffix(s.Name, ".z") {
		return false
	}
	_, own := c.lookup(s.Name)
	return !own
}

func (c *compiler) symbol(s *sym.Symbol) integer {
	if at, ok := c.lookup(s.Name); ok {
		return slotValue(at)
	}
	switch {
	case c.isThread(s):
		c.within(s, int64(c.prog.threads)-1)
		return slotValue(slot{lane: true, at: lThread})
	case s.Class == sym.Thread: // blocks are one-dimensional
		return constant(0)
	case s.Class == sym.Block:
		axis := uBlockX
		if strings.HasSuffix(s.Name, "y") {
			axis = uBlockY
		} else if strings.HasSuffix(s.Name, "z") {
			axis = uBlockZ
		}
		c.within(s, c.prog.grid[axis]-1)
		return slotValue(slot{at: axis})
	}
	v, ok := c.bound.dims[s.Name]
	if !ok {
		c.fail("%s is not defined here", s.Name)
	}
	return constant(v)
}

// within refuses a launch that leaves an index's bounds, on which the kernel's code relies.
func (c *compiler) within(s *sym.Symbol, last int64) {
	if last > s.Hi {
		c.refuse("%s goes up to %d in this grid, but the kernel was generated for at most %d: declare larger bounds, or give smaller sizes", s.Name, last, s.Hi)
	}
}

func slotValue(s slot) integer {
	at := s.at
	if s.lane {
		return integer{l: func(w *warp) *[32]int64 { return &w.l[at] }}
	}
	return integer{u: uniform{f: func(w *warp) int64 { return w.u[at] }}}
}

func (c *compiler) newSlot(lane bool) slot {
	if lane {
		c.prog.lanes++
		return slot{true, c.prog.lanes - 1}
	}
	c.prog.uniforms++
	return slot{false, c.prog.uniforms - 1}
}

func (c *compiler) declare(s *sym.Symbol, lane bool) slot {
	at := c.newSlot(lane)
	c.scopes[len(c.scopes)-1][s.Name] = at
	return at
}

func (c *compiler) let(s cir.Let) func(*warp) {
	x := c.expr(s.Value, 0) // before the symbol is visible
	guard := c.guard(0, s.Value)
	lo, hi := s.Value.Range()
	c.printed[s.Sym.Name] = cType{wide: !fits32(lo, hi) && !fits32(s.Sym.Lo, s.Sym.Hi)}
	return guarded(guard, c.set(s.Sym, c.declare(s.Sym, x.l != nil), x))
}

func (c *compiler) assign(s cir.Assign) func(*warp) {
	at, ok := c.lookup(s.Sym.Name)
	if !ok {
		c.fail("%s is not a variable", s.Sym.Name)
	}
	return guarded(c.guard(0, s.Value), c.set(s.Sym, at, c.expr(s.Value, 0)))
}

// set writes a slot, and checks the bounds that the symbol promises.
func (c *compiler) set(s *sym.Symbol, at slot, x integer) func(*warp) {
	check := c.prog.check
	if !at.lane {
		u := x.u
		if x.l != nil {
			c.fail("%s differs by lane", s.Name)
		}
		return func(w *warp) {
			v := u.at(w)
			w.u[at.at] = v
			if check && broken(s, v) {
				w.intRange(s, v, 0)
			}
		}
	}
	l := c.spread(x, 0)
	return func(w *warp) {
		out, v := &w.l[at.at], l(w)
		for i := range out {
			if w.mask>>i&1 == 0 {
				continue
			}
			out[i] = v[i]
			if check && broken(s, v[i]) {
				w.intRange(s, v[i], i)
			}
		}
	}
}

// broken reports whether a value contradicts what is known of its symbol.
func broken(s *sym.Symbol, v int64) bool {
	return v < s.Lo && s.Lo > -sym.Unbounded || v > s.Hi && s.Hi < sym.Unbounded || s.Multiple > 1 && v%s.Multiple != 0
}

func (w *warp) intRange(s *sym.Symbol, v int64, lane int) {
	w.lied = true
	if f := w.find(IntRange, s.Name, lane, -1); f != nil {
		f.Message = fmt.Sprintf("%s is declared as %s, but it is %d", s.Name, declared(s), v)
	}
}

// declared is what is known of a symbol, in words.
func declared(s *sym.Symbol) string {
	var out []string
	switch below, above := s.Lo <= -sym.Unbounded, s.Hi >= sym.Unbounded; {
	case !below && !above:
		out = append(out, fmt.Sprintf("%d to %d", s.Lo, s.Hi))
	case !below:
		out = append(out, fmt.Sprintf("at least %d", s.Lo))
	case !above:
		out = append(out, fmt.Sprintf("at most %d", s.Hi))
	}
	if s.Multiple > 1 {
		out = append(out, fmt.Sprintf("a multiple of %d", s.Multiple))
	}
	return strings.Join(out, " and ")
}
