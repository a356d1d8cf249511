package emu

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// binding is a kernel's arguments, checked.
type binding struct {
	kernel  *cir.Kernel
	dims    map[string]int64 // by the symbol's name
	scalars map[*cir.Param]uint64
	buffers map[*cir.Mem]*Buffer
	counts  map[*cir.Mem]int64 // elements of each memory
	boxes   map[*cir.TensorMap]shape
	grid    [3]int64
	exact   bool
}

// The largest grid that CUDA launches.
var maxGrid = [3]int64{math.MaxInt32, 65535, 65535}

// bind checks the arguments as the launcher does.
func bind(k *cir.Kernel, args Args, exact bool) (*binding, error) {
	b := &binding{kernel: k, exact: exact, dims: map[string]int64{}, scalars: map[*cir.Param]uint64{},
		buffers: map[*cir.Mem]*Buffer{}, counts: map[*cir.Mem]int64{}}
	known := map[string]bool{}
	for _, p := range k.Params {
		known[p.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !known[name] {
			return nil, b.bad(name, "the kernel has no parameter of this name")
		}
	}
	for _, p := range k.Params { // dims first: the buffers' lengths depend on them
		if p.Class != cir.Pointer {
			if err := b.number(p, args[p.Name]); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range k.Params {
		if p.Class == cir.Pointer {
			if err := b.pointer(p, args[p.Name]); err != nil {
				return nil, err
			}
		}
	}
	if err := b.requires(); err != nil {
		return nil, err
	}
	if err := b.maps(); err != nil {
		return nil, err
	}
	return b, b.launch()
}

// maps evaluates the extents and strides of the tensor maps.
func (b *binding) maps() error {
	b.boxes = map[*cir.TensorMap]shape{}
	for _, m := range b.kernel.Maps {
		var s shape
		for _, x := range []struct {
			from []sym.Expr
			to   *[]int64
		}{{m.Extents, &s.extents}, {m.Strides, &s.strides}} {
			for _, e := range x.from {
				n, err := e.Eval(b.value)
				if err != nil {
					return b.bad(m.Name, "%v", err)
				}
				*x.to = append(*x.to, n)
			}
		}
		b.boxes[m] = s
	}
	return nil
}

func (b *binding) bad(name, format string, args ...any) *ArgError {
	return &ArgError{Kernel: b.kernel.Name, Name: name, Message: fmt.Sprintf(format, args...)}
}

func (b *binding) value(s *sym.Symbol) (int64, bool) {
	v, ok := b.dims[s.Name]
	return v, ok
}

func (b *binding) number(p *cir.Param, arg Arg) error {
	switch x := arg.(type) {
	case nil:
		return b.bad(p.Name, "no value is given")
	case Dim:
		if p.Class == cir.Dim {
			return b.dim(p, int64(x))
		}
	case Scalar:
		if p.Class == cir.Scalar && b.exact {
			r, ok := Residue(float64(x))
			if !ok {
				return b.bad(p.Name, "expects a finite number, but got %v", float64(x))
			}
			b.scalars[p] = r
			return nil
		}
		if p.Class == cir.Scalar {
			b.scalars[p] = elem.Encode(p.Elem, float64(x))
			return nil
		}
	case Bits:
		if p.Class == cir.Scalar {
			b.scalars[p] = uint64(x)
			return nil
		}
	}
	want := "a Scalar or Bits"
	if p.Class == cir.Dim {
		want = "a Dim"
	}
	return b.bad(p.Name, "expects %s, but got %T", want, arg)
}

func (b *binding) dim(p *cir.Param, v int64) error {
	if p.Sym == nil {
		return b.bad(p.Name, "the parameter has no symbol")
	}
	if v < p.Sym.Lo || v > p.Sym.Hi {
		return b.bad(p.Name, "expects a value from %d to %d, but got %d", p.Sym.Lo, p.Sym.Hi, v)
	}
	if m := p.Sym.Multiple; m > 1 && v%m != 0 {
		return b.bad(p.Name, "expects a multiple of %d, but got %d", m, v)
	}
	b.dims[p.Sym.Name] = v
	return nil
}

func (b *binding) pointer(p *cir.Param, arg Arg) error {
	buf, ok := arg.(*Buffer)
	if p.Mem == nil {
		return b.bad(p.Name, "the parameter has no memory")
	}
	switch {
	case arg == nil || ok && buf == nil:
		return b.bad(p.Name, "no buffer is given")
	case !ok:
		return b.bad(p.Name, "expects a *Buffer, but got %T", arg)
	case buf.Kind != p.Mem.Elem:
		return b.bad(p.Name, "expects a buffer of %s, but got %s", p.Mem.Elem, buf.Kind)
	case buf.Kind.Bits() == 0 || buf.Kind.Bits() > 64:
		return b.bad(p.Name, "elements of %s cannot be emulated", buf.Kind)
	}
	n, err := p.Mem.Count.Eval(b.value)
	if err != nil {
		return b.bad(p.Name, "its count of elements: %v", err)
	}
	if buf.Len() < n {
		return b.bad(p.Name, "expects at least %d elements (%s), but got %d", n, p.Mem.Count, buf.Len())
	}
	for _, q := range b.kernel.Params {
		if other := b.buffers[q.Mem]; q.Class == cir.Pointer && other != nil && (other == buf ||
			len(buf.Cells) > 0 && len(other.Cells) > 0 && &other.Cells[0] == &buf.Cells[0]) {
			return b.bad(p.Name, "is the same buffer as %s", q.Name)
		}
	}
	b.buffers[p.Mem], b.counts[p.Mem] = buf, n
	return nil
}

func (b *binding) requires() error {
	for _, r := range b.kernel.Requires {
		ok, err := cir.Holds(r.Cond, b.value)
		if err != nil {
			return b.bad("requires", "%s: %v", r.Message, err)
		}
		if !ok {
			return &RequireError{Kernel: b.kernel.Name, Message: r.Message}
		}
	}
	return nil
}

// launch evaluates the grid. A component that was never set counts as 1.
func (b *binding) launch() error {
	if t := b.kernel.Threads; t < 1 || t > 1024 {
		return &KernelError{Kernel: b.kernel.Name, Message: fmt.Sprintf("expects 1 to 1024 threads, but got %d", t), malformed: true}
	}
	for i, e := range b.kernel.Grid {
		if e.Is(0) {
			e = sym.Int(1)
		}
		n, err := e.Eval(b.value)
		if err != nil {
			return b.bad("grid", "%v", err)
		}
		if n < 0 || n > maxGrid[i] {
			return b.bad("grid", "expects 0 to %d blocks along %c, but got %d", maxGrid[i], "xyz"[i], n)
		}
		b.grid[i] = n
	}
	return nil
}

// compare decides comparisons, by operator.
var compare = [...]func(x, y int64) bool{
	cir.LT: func(x, y int64) bool { return x < y },
	cir.LE: func(x, y int64) bool { return x <= y },
	cir.EQ: func(x, y int64) bool { return x == y },
	cir.NE: func(x, y int64) bool { return x != y },
}
