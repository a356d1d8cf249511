package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/cuda/launch"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// The extents of dims that the caller leaves open.
const (
	emulatorExtent = 256
	gpuExtent      = 1024
)

// plan is a kernel with arguments that its launcher would accept.
type plan struct {
	c        *cir.Kernel
	dims     map[string]int64
	scalars  map[string]float64
	defaults []string // names of dims and scalars that the caller left open
	grid     launch.Grid
	tensors  []*tensor // in the order of the parameters
}

// newPlan checks the arguments, lays out the tensors and fills them.
func newPlan(c *cir.Kernel, args Args, use memoryUse) (*plan, error) {
	p, err := resolve(c, args, use)
	if err != nil {
		return nil, err
	}
	return p, p.data(args, use)
}

// resolve is newPlan without any memory: it may be asked for sizes that only a GPU can hold.
func resolve(c *cir.Kernel, args Args, use memoryUse) (*plan, error) {
	p := &plan{c: c, dims: map[string]int64{}, scalars: map[string]float64{}}
	if err := p.known(args); err != nil {
		return nil, err
	}
	extent := int64(emulatorExtent)
	if use == onDevice {
		extent = gpuExtent
	}
	for i, q := range c.Params {
		switch q.Class {
		case cir.Dim:
			v, given := args.Dims[q.Name]
			if !given {
				v = defaultExtent(q.Sym, extent)
				p.defaults = append(p.defaults, q.Name)
			}
			if err := launch.CheckDim(c.Name, q.Name, v, q.Sym.Lo, q.Sym.Hi, max(q.Sym.Multiple, 1)); err != nil {
				return nil, err
			}
			p.dims[q.Sym.Name] = v
		case cir.Scalar:
			v, given := args.Scalars[q.Name]
			if !given {
				v = number(q.Elem, hash(args.Seed, i, 0))
				p.defaults = append(p.defaults, q.Name)
			}
			p.scalars[q.Name] = elem.Decode(q.Elem, elem.Encode(q.Elem, v))
		}
	}
	if err := p.conditions(); err != nil {
		return nil, err
	}
	if err := p.layouts(); err != nil {
		return nil, err
	}
	for _, t := range p.tensors {
		t.size()
	}
	return p, nil
}

// known refuses names that the kernel does not have.
func (p *plan) known(args Args) error {
	names := map[cir.Class][]string{}
	for _, q := range p.c.Params {
		names[q.Class] = append(names[q.Class], q.Name)
	}
	for _, group := range []struct {
		class cir.Class
		what  string
		given []string
	}{
		{cir.Dim, "dim", slices.Sorted(maps.Keys(args.Dims))},
		{cir.Scalar, "scalar", slices.Sorted(maps.Keys(args.Scalars))},
		{cir.Pointer, "tensor", slices.Sorted(maps.Keys(args.Tensors))},
	} {
		for _, name := range group.given {
			if !slices.Contains(names[group.class], name) {
				return fmt.Errorf("%s: there is no %s %s: expected %s", p.c.Name, group.what, name, choices(names[group.class]))
			}
		}
	}
	return nil
}

// choices lists names for the end of a sentence that says what was expected.
func choices(names []string) string {
	if len(names) == 0 {
		return "none, for the kernel has none"
	}
	return "one of " + strings.Join(names, ", ")
}

// defaultExtent is the value nearest to want that the launcher accepts.
func defaultExtent(s *sym.Symbol, want int64) int64 {
	m := max(s.Multiple, 1)
	v := min(max(want, s.Lo), s.Hi)
	if down := v - v%m; down >= s.Lo {
		return down
	}
	return v - v%m + m
}

func (p *plan) value(s *sym.Symbol) (int64, bool) {
	v, ok := p.dims[s.Name]
	return v, ok
}

// conditions checks what the kernel requires of the dims together, and the grid, with the launcher's texts.
func (p *plan) conditions() error {
	for _, r := range p.c.Requires {
		ok, err := cir.Holds(r.Cond, p.value)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", p.c.Name, r.Message, err)
		}
		if !ok {
			var values []launch.Value
			for _, name := range slices.Sorted(maps.Keys(p.dims)) {
				if mentions(r.Cond, name) {
					values = append(values, launch.Value{Name: name, V: p.dims[name]})
				}
			}
			return launch.Unmet(p.c.Name, r.Message, values...)
		}
	}
	var xyz [3]int64
	for i, e := range p.c.Grid {
		if e.Is(0) { // an extent that nobody set
			e = sym.Int(1)
		}
		var err error
		if xyz[i], err = e.Eval(p.value); err != nil {
			return fmt.Errorf("%s: grid: %w", p.c.Name, err)
		}
	}
	var err error
	p.grid, err = launch.NewGrid(p.c.Name, xyz[0], xyz[1], xyz[2])
	return err
}

// evaluate evaluates a list of expressions of the dims.
func (p *plan) evaluate(es []sym.Expr) ([]int64, error) {
	out := make([]int64, len(es))
	for i, e := range es {
		var err error
		if out[i], err = e.Eval(p.value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// data fills the tensors, if the machine has the memory.
func (p *plan) data(args Args, use memoryUse) error {
	limit, whose := memoryLimit()
	if err := p.affordable(use, limit, whose); err != nil {
		return err
	}
	counters := p.c.Counters()
	for _, t := range p.tensors {
		given, ok := args.Tensors[t.p.Name]
		if ok && (int64(len(given)) != t.count || !t.p.Read) {
			return fmt.Errorf("%s: %s: expected the data of an input, %d numbers, but got %d", p.c.Name, t.p.Name, t.count, len(given))
		}
		if counters[t.p.Mem] && !ok {
			given = make([]float64, t.count)
		}
		t.fill(args.Seed, slices.Index(p.c.Params, t.p), given)
	}
	return nil
}

// layouts computes the extents and strides of the tensors.
func (p *plan) layouts() error {
	for _, q := range p.c.Params {
		if q.Class != cir.Pointer {
			continue
		}
		t := &tensor{p: q, width: max(q.Elem.Bits()/8, 1)}
		var err error
		if t.extents, err = p.evaluate(q.Extents); err == nil {
			t.strides, err = p.evaluate(q.Strides)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", p.c.Name, q.Name, err)
		}
		p.tensors = append(p.tensors, t)
	}
	return nil
}

// mentions reports whether a condition depends on a dim.
func mentions(c cir.Cond, name string) bool {
	in := func(x cir.Cond) bool { return mentions(x, name) }
	switch c := c.(type) {
	case cir.Cmp:
		return c.X.Mentions(name) || c.Y.Mentions(name)
	case cir.And:
		return slices.ContainsFunc(c, in)
	case cir.Or:
		return slices.ContainsFunc(c, in)
	case cir.Not:
		return in(c.X)
	}
	return false
}
