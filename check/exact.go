package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
)

// ExactResult is what a run in the field of emu.Prime elements came to.
type ExactResult struct {
	Kernel     string
	Dims       map[string]int64
	Findings   []*emu.Finding
	Compared   int64 // elements compared, of all outputs
	Wrong      int64
	Mismatches []*Mismatch // the first of them
}

// Mismatch is an element whose value is not the reference's.
type Mismatch struct {
	Kernel string
	Output string
	At     []int64
	Pos    cir.Pos // the statement that wrote it; zero where nobody did
	Block  [3]int64
	Thread int
}

// Error is the mismatch in one line.
func (m *Mismatch) Error() string {
	if m.Pos.File == "" {
		return fmt.Sprintf("%s: wrong-value: %s%s is not the reference's, for nobody wrote it", m.Kernel, m.Output, coord(m.At))
	}
	return fmt.Sprintf("%s:%d: %s: wrong-value: %s%s is not the reference's (block %d,%d,%d, thread %d wrote it); "+
		"look for a wrong index, a k that is missed or taken twice, or a stale stage",
		filepath.Base(m.Pos.File), m.Pos.Line, m.Kernel, m.Output, coord(m.At), m.Block[0], m.Block[1], m.Block[2], m.Thread)
}

// Err is nil if nothing was found and every element compared is the reference's.
func (r *ExactResult) Err() error {
	var errs []error
	for _, f := range r.Findings {
		errs = append(errs, f)
	}
	for _, m := range r.Mismatches {
		errs = append(errs, m)
	}
	if n := r.Wrong - int64(len(r.Mismatches)); n > 0 {
		errs = append(errs, fmt.Errorf("%s: %d further elements are wrong", r.Kernel, n))
	}
	return errors.Join(errs...)
}

// Exact runs a kernel that is linear in its inputs with elements drawn from the field of 2^61-1 elements, where
// every copy, MMA, FMA and linear epilogue is exact, and compares with the kernel's own references in the same field:
// a wrong index, a k that is missed or taken twice, a stale stage differ with near certainty, and no tolerance hides
// them. Kernels that are not linear are refused with an error.
//
// The references are functions in float64 and know no field. But they are affine in each tensor, so they are
// evaluated on limbs of the elements, small integers on which float64 is exact, and put together in the field. That
// they are affine is tried out first. Scalars are small integers where the caller does not give them.
func Exact(ctx context.Context, k *dsl.Kernel, args Args) (*ExactResult, error) {
	c, err := gen.Lower(k)
	if err != nil {
		return nil, err
	}
	return ExactIR(ctx, c, k.Expectations(), args)
}

// ExactIR is Exact for a kernel's C IR, such as one that was changed after lowering.
func ExactIR(ctx context.Context, c *cir.Kernel, expects []dsl.Expectation, args Args) (*ExactResult, error) {
	return exactRun(ctx, c, expects, args, emu.Options{})
}

func exactRun(ctx context.Context, c *cir.Kernel, expects []dsl.Expectation, args Args, opt emu.Options) (*ExactResult, error) {
	x, err := newExact(ctx, c, expects, args)
	if err != nil {
		return nil, err
	}
	return x.run(ctx, c, opt)
}

// exact is a plan whose inputs are elements of the field, with what the reference makes of them.
type exact struct {
	*plan
	inputs map[string][]uint64 // of the tensors that are read
	wants  []wanted

	undefined bool // tensors that are read and written count as not initialised
}

// wanted is a reference: the residues expected at some coordinates of an output.
type wanted struct {
	t      *tensor
	sample [][]int64
	values []uint64
}

func newExact(ctx context.Context, c *cir.Kernel, expects []dsl.Expectation, args Args) (*exact, error) {
	scalars := map[string]float64{}
	for i, q := range c.Params {
		if v, given := args.Scalars[q.Name]; q.Class == cir.Scalar && given {
			scalars[q.Name] = v
		} else if q.Class == cir.Scalar {
			scalars[q.Name] = float64(2 + hash(args.Seed, i, 0)%3)
		}
	}
	args.Scalars = scalars
	p, err := newPlan(c, args, inField)
	if err != nil {
		return nil, err
	}
	x := &exact{plan: p, inputs: map[string][]uint64{}}
	counters := c.Counters()
	for i, t := range p.tensors {
		if t.p.Read {
			cells := make([]uint64, t.count)
			x.inputs[t.p.Name] = cells
			if counters[t.p.Mem] {
				continue // they begin at zero
			}
			for j := range cells {
				cells[j] = hash(args.Seed, i, int64(j)) % emu.Prime
			}
		}
	}
	for _, e := range expects {
		for _, t := range p.tensors {
			if t.p.Name != e.Output {
				continue
			}
			w := wanted{t: t, sample: t.exactSample()}
			if w.values, err = x.reference(ctx, e, w.sample); err != nil {
				return nil, named(c.Name, fmt.Errorf("%s: %w", e.Output, err))
			}
			x.wants = append(x.wants, w)
		}
	}
	return x, nil
}

// run runs the kernel, or another one with the same arguments, and compares.
func (x *exact) run(ctx context.Context, c *cir.Kernel, opt emu.Options) (*ExactResult, error) {
	res := &ExactResult{Kernel: c.Name, Dims: x.dims}
	if x.grid.Empty() {
		return res, nil
	}
	args := emu.Args{}
	for _, q := range c.Params {
		switch q.Class {
		case cir.Dim:
			args[q.Name] = emu.Dim(x.dims[q.Sym.Name])
		case cir.Scalar:
			args[q.Name] = emu.Scalar(x.scalars[q.Name])
		}
	}
	for _, t := range x.tensors {
		b := emu.NewBuffer(t.p.Elem, int(t.count))
		copy(b.Cells, x.inputs[t.p.Name])
		b.Undefined = x.undefined && t.p.Read && t.p.Write
		args[t.p.Name] = b
	}
	opt.Exact = true
	rep, err := emu.Run(ctx, c, args, opt)
	if err != nil {
		return nil, err
	}
	res.Findings = rep.Findings
	for _, w := range x.wants {
		w.compare(args[w.t.p.Name].(*emu.Buffer).Cells, rep, res)
	}
	return res, nil
}

const keptMismatches = 8

// compare holds one output against its reference.
func (w *wanted) compare(cells []uint64, rep *emu.Report, res *ExactResult) {
	for i, at := range w.sample {
		res.Compared++
		offset := w.t.offset(at)
		if cells[offset] == w.values[i] {
			continue
		}
		if res.Wrong++; len(res.Mismatches) < keptMismatches {
			m := &Mismatch{Kernel: res.Kernel, Output: w.t.p.Name, At: at}
			m.Pos, m.Block, m.Thread, _ = rep.Writer(w.t.p.Name, offset)
			res.Mismatches = append(res.Mismatches, m)
		}
	}
}

const (
	exactFull   = 1 << 12 // outputs up to this size are compared wholly
	exactSample = 1 << 11
)

// exactSample lists all coordinates, or a share of them and those at the tensor's edges.
func (t *tensor) exactSample() [][]int64 {
	if t.elements() > fullElements {
		return t.sample()
	}
	every := uint64(max(1, t.elements()/exactSample))
	var out [][]int64
	t.each(func(at []int64, offset int64) bool {
		edge := false
		for i, c := range at {
			edge = edge || c == t.extents[i]-1
		}
		if t.elements() <= exactFull || edge || hash(7, 0, offset)%every == 0 {
			out = append(out, append([]int64(nil), at...))
		}
		return true
	})
	return out
}

// Limbs of an element, low ones first: as many bits as leave room for the sums of products in float64's 53 bits.
const (
	limbBits = 21
	limbs    = 3
)

// weights are those of a tensor's limbs in an affine function g: with x = sum of w_i*x_i, g(x) is
// (1 - sum of w_i)*g(0) + sum of w_i*g(x_i). The first is that of g(0).
func weights() [limbs + 1]uint64 {
	f := emu.Field{}
	w := [limbs + 1]uint64{1}
	for i := range limbs {
		w[i+1] = 1 << (limbBits * i)
		w[0] = f.Sub(w[0], w[i+1])
	}
	return w
}

// reference computes the expected residues.
func (x *exact) reference(ctx context.Context, e dsl.Expectation, sample [][]int64) ([]uint64, error) {
	var read []*tensor
	for _, t := range x.tensors {
		if t.p.Read {
			read = append(read, t)
		}
	}
	if len(read) > 4 {
		return nil, fmt.Errorf("exact mode: expects at most 4 inputs, but got %d", len(read))
	}
	if err := x.affine(ctx, e, read, sample); err != nil {
		return nil, err
	}
	parts := map[string][][]float64{}
	for _, t := range read {
		parts[t.p.Name] = split(x.inputs[t.p.Name])
	}
	field, w := emu.Field{}, weights()
	out, values := make([]uint64, len(sample)), make([]float64, len(sample))
	combos := 1
	for range read {
		combos *= limbs + 1
	}
	for n := range combos {
		ref, weight, rest := x.ref(), uint64(1), n
		for _, t := range read {
			l := rest % (limbs + 1)
			rest /= limbs + 1
			ref.Tensors[t.p.Name] = t.ref(parts[t.p.Name][l])
			weight = field.Mul(weight, w[l])
		}
		if err := reference(ctx, e, ref, sample, values); err != nil {
			return nil, err
		}
		for i, v := range values {
			if math.Abs(v) >= 1<<53 || v != math.Trunc(v) {
				return nil, fmt.Errorf("exact mode: the reference at %s is %g, which float64 does not compute exactly: use smaller extents or scalars", coord(sample[i]), v)
			}
			if r, ok := emu.Residue(v); ok && r != 0 {
				out[i] = field.Add(out[i], field.Mul(weight, r))
			}
		}
	}
	return out, nil
}

// ref is a reference's arguments, but for the tensors that are read.
func (x *exact) ref() *dsl.Ref {
	ref := &dsl.Ref{Tensors: map[string]dsl.RefTensor{}, Dims: x.dims, Scalars: x.scalars}
	for _, t := range x.tensors {
		if !t.p.Read {
			ref.Tensors[t.p.Name] = t.ref(make([]float64, t.count))
		}
	}
	return ref
}

func (t *tensor) ref(data []float64) dsl.RefTensor {
	return dsl.RefTensor{Extents: t.extents, Strides: t.strides, Data: data}
}

// split is zeros, and the limbs of residues.
func split(cells []uint64) [][]float64 {
	out := make([][]float64, limbs+1)
	for l := range out {
		out[l] = make([]float64, len(cells))
		for i, r := range cells {
			if l > 0 {
				out[l][i] = float64(r >> (limbBits * (l - 1)) & (1<<limbBits - 1))
			}
		}
	}
	return out
}

// affine tries on small integers that the reference is affine in each tensor: f(x+y) + f(0) = f(x) + f(y).
func (x *exact) affine(ctx context.Context, e dsl.Expectation, read []*tensor, sample [][]int64) error {
	const tried = 64
	if step := len(sample) / tried; step > 1 {
		var few [][]int64
		for i := 0; i < len(sample); i += step {
			few = append(few, sample[i])
		}
		sample = few
	}
	for i, t := range read {
		sums := make([]float64, len(sample))
		for form := range 4 { // x+y, 0, x, y
			ref := x.ref()
			for j, u := range read {
				data := make([]float64, u.count)
				for n := range data {
					a, b := float64(hash(11, j, int64(n))%16), float64(hash(12, j, int64(n))%16)
					data[n] = a
					if i == j {
						data[n] = [...]float64{a + b, 0, a, b}[form]
					}
				}
				ref.Tensors[u.p.Name] = u.ref(data)
			}
			values := make([]float64, len(sample))
			if err := reference(ctx, e, ref, sample, values); err != nil {
				return err
			}
			for n, v := range values {
				sums[n] += [...]float64{1, 1, -1, -1}[form] * v
			}
		}
		for n, s := range sums {
			if s != 0 {
				return fmt.Errorf("exact mode: the reference at %s is not linear in %s", coord(sample[n]), t.p.Name)
			}
		}
	}
	return nil
}

// ExactKernel is Exact for tests: what is wrong fails the test.
func ExactKernel(t TB, k *dsl.Kernel, args Args) *ExactResult {
	t.Helper()
	res, err := Exact(t.Context(), k, args)
	if err == nil {
		err = res.Err()
	}
	if err != nil {
		t.Fatalf("%v", err)
		return res
	}
	t.Logf("%s %v: %d elements are exact", res.Kernel, res.Dims, res.Compared)
	return res
}
