package check

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Of outputs with more than fullElements elements a sample is compared.
const (
	fullElements   = 1 << 16
	randomElements = 4096
	edgeElements   = 128 // from either end of every edge of the tensor
)

// compare judges every tensor after the run.
func (p *plan) compare(ctx context.Context, expects []dsl.Expectation, res *Result) error {
	ref := p.reference()
	for _, t := range p.tensors {
		out := &Output{Name: t.p.Name, Kind: t.p.Elem, Extents: t.extents, Elements: t.elements(), Written: t.p.Write}
		for _, e := range expects {
			if e.Output == t.p.Name {
				out.Reference, out.Tolerance = true, e.Tolerance
				if err := t.judge(ctx, e, ref, out); err != nil {
					return err
				}
			}
		}
		if out.Wrong > 0 && res.Report != nil {
			out.writer, _, _, _ = res.Report.Writer(t.p.Name, t.offset(out.At))
		}
		t.coverage(out)
		if t.p.Write || out.Outside > 0 {
			res.Outputs = append(res.Outputs, out)
		}
	}
	return nil
}

// reference is what the references read.
func (p *plan) reference() *dsl.Ref {
	ref := &dsl.Ref{Tensors: map[string]dsl.RefTensor{}, Dims: p.dims, Scalars: p.scalars}
	for _, t := range p.tensors {
		ref.Tensors[t.p.Name] = dsl.RefTensor{Extents: t.extents, Strides: t.strides, Data: t.values()}
	}
	return ref
}

// coverage looks for elements that nobody wrote and for writes beside the tensor.
func (t *tensor) coverage(out *Output) {
	mark := poisons[t.p.Elem]
	if !t.p.Read && mark.sure {
		t.each(func(at []int64, offset int64) bool {
			if t.bits(t.after, offset) == mark.bits {
				out.unwritten(at)
			}
			return true
		})
	}
	out.Outside = t.guards
	if t.p.Write && t.compact {
		return
	}
	in := make([]bool, t.count) // of a tensor that is only read, every element is outside
	if t.p.Write {
		in = t.inside()
	}
	for i := range t.count {
		if !in[i] && t.bits(t.after, i) != t.bits(t.before, i) {
			if out.Outside == t.guards {
				out.FirstOutside = i
			}
			out.Outside++
		}
	}
}

func (o *Output) unwritten(at []int64) {
	if o.Unwritten == 0 {
		o.FirstUnwritten = append([]int64(nil), at...)
	}
	o.Unwritten++
}

// judge compares the sample with the reference.
func (t *tensor) judge(ctx context.Context, e dsl.Expectation, ref *dsl.Ref, out *Output) error {
	sample := t.sample()
	want := make([]float64, len(sample))
	if err := reference(ctx, e, ref, sample, want); err != nil {
		return err
	}
	out.Compared = int64(len(sample))
	exact := slices.Clone(want)
	for i := range want { // the best that an output of this kind can hold
		if want[i] == want[i] { // a NaN stays one: a kind that has none cannot hold what the reference asks for
			want[i] = elem.Decode(t.p.Elem, elem.Encode(t.p.Elem, want[i]))
		}
		out.count(want[i])
	}
	out.RMS = rootMeanSquare(want)
	diffs := make([]float64, len(want))
	mark := poisons[t.p.Elem]
	for i, at := range sample {
		bits := t.bits(t.after, t.offset(at))
		got := elem.Decode(t.p.Elem, bits)
		diff := distance(got, want[i])
		diffs[i] = diff
		limit := allowed(t.p.Elem, want[i], out.Tolerance, out.RMS)
		wrong := out.Wrong
		if math.IsInf(diff, 1) || diff > limit && !rounds(t.p.Elem, exact[i], got, out.Tolerance*out.RMS) {
			out.Wrong++
			if !t.p.Read && !mark.sure && bits == mark.bits {
				out.unwritten(at)
			}
		}
		if out.Wrong == wrong {
			limit = max(limit, diff) // what rounding to an integer excuses
		}
		out.Nearest.meet(Element{At: at, Got: got, Want: want[i], Error: diff, Allowed: limit})
		if out.At == nil || diff > out.MaxAbs {
			out.MaxAbs, out.At, out.Got, out.Want = diff, at, got, want[i]
		}
	}
	out.Relative = rootMeanSquare(diffs)
	if out.MaxAbs > math.MaxFloat64 {
		out.Relative = out.MaxAbs
	}
	if out.RMS > 0 {
		out.Relative /= out.RMS
	}
	return nil
}

// count notes an expected value that is no finite number: such values say nothing about how exact the others are.
func (o *Output) count(want float64) {
	switch {
	case math.IsNaN(want):
		o.NaNs++
	case math.IsInf(want, 0):
		o.Infinities++
	}
}

// rootMeanSquare is that of the finite values, 0 where there are none: one infinity must not excuse the others.
// Scaling by the largest keeps the squares in range.
func rootMeanSquare(values []float64) float64 {
	var largest, squares, n float64
	finite := func(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }
	for _, v := range values {
		if finite(v) {
			largest, n = max(largest, math.Abs(v)), n+1
		}
	}
	if largest == 0 {
		return 0
	}
	for _, v := range values {
		if finite(v) {
			squares += v / largest * (v / largest)
		}
	}
	return largest * math.Sqrt(squares/n)
}

// distance is |got - want|, 0 for equal ones, NaN and infinities included, and infinite where only one is a NaN.
func distance(got, want float64) float64 {
	if got == want || got != got && want != want {
		return 0
	}
	if d := math.Abs(got - want); d == d {
		return d
	}
	return math.Inf(1)
}

// reference computes the expected values on all cores. Every worker binds the reference anew, so that its
// function may keep a state.
func reference(ctx context.Context, e dsl.Expectation, ref *dsl.Ref, sample [][]int64, want []float64) error {
	var once sync.Once
	var failed error
	fail := func(err error) { once.Do(func() { failed = err }) }
	guard := func() {
		if r := recover(); r != nil {
			fail(blame(e.Output, r))
		}
	}
	parallel(int64(len(sample)), 64, func() (work func(lo, hi int64)) {
		work = func(lo, hi int64) {}
		defer guard()
		f := e.Element(ref)
		if f == nil {
			fail(fmt.Errorf("the reference of %s returned no function, but nil", e.Output))
			return work
		}
		return func(lo, hi int64) {
			defer guard()
			if err := ctx.Err(); err != nil {
				fail(context.Cause(ctx))
				return
			}
			for i := lo; i < hi; i++ {
				want[i] = f(sample[i])
			}
		}
	})
	if failed != nil && ctx.Err() == nil {
		if err := firstFailure(e, ref, sample); err != nil { // the same one in every run
			return err
		}
	}
	return failed
}

// firstFailure computes element after element until the reference panics.
func firstFailure(e dsl.Expectation, ref *dsl.Ref, sample [][]int64) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = blame(e.Output, r)
		}
	}()
	f := e.Element(ref)
	if f == nil {
		return fmt.Errorf("the reference of %s returned no function, but nil", e.Output)
	}
	for _, at := range sample {
		f(at)
	}
	return nil
}

// sample lists the coordinates to compare: all, or the tensor's edges near its corners and random ones.
func (t *tensor) sample() [][]int64 {
	var out [][]int64
	add := func(at []int64) { out = append(out, append([]int64(nil), at...)) }
	if n := t.elements(); n == 0 || n <= fullElements {
		t.each(func(at []int64, _ int64) bool { add(at); return true })
		return out
	}
	rank := len(t.extents)
	for mode := range rank {
		for corner := range 1 << rank { // a corner for each set of modes at their far end
			if corner>>mode&1 == 1 || rank > 6 {
				continue
			}
			at := make([]int64, rank)
			for i := range at {
				at[i] = int64(corner>>i&1) * (t.extents[i] - 1)
			}
			for i := range t.extents[mode] {
				if i < edgeElements || i >= t.extents[mode]-edgeElements {
					at[mode] = i
					add(at)
				}
			}
		}
	}
	at := make([]int64, rank)
	for n := range int64(randomElements) {
		for i, e := range t.extents {
			at[i] = int64(hash(n, i, 1) % uint64(e))
		}
		add(at)
	}
	return out
}

// rounds reports whether an integer is what something within the tolerance of the exact result rounds to.
func rounds(kind elem.Kind, exact, got, tolerance float64) bool {
	to := func(x float64) float64 { return elem.Decode(kind, elem.Encode(kind, x)) }
	return !kind.IsFloat() && (to(exact-tolerance) == got || to(exact+tolerance) == got)
}

// allowed is how far an element may be from what is expected: the tolerance, or, if there is one, the distance to the next
// number of the kind, by which rounding alone may differ where a value is much larger than most.
func allowed(kind elem.Kind, want, tolerance, rms float64) float64 {
	if tolerance == 0 || !kind.IsFloat() {
		return tolerance * rms
	}
	next := math.Abs(elem.Decode(kind, elem.Encode(kind, want)+1) - want)
	if math.IsInf(next, 0) || math.IsNaN(next) {
		next = 0
	}
	return max(tolerance*rms, next)
}
