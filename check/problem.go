package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/cuda/launch"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// Problem is a launch in numbers: what a program needs to start a kernel and to judge its results that has the compiled
// image but not the kernel's Go code.
type Problem struct {
	Dims     map[string]int64
	Scalars  map[string]float64
	Defaults []string `json:",omitempty"` // dims and scalars that the caller left open
	Grid     launch.Grid
	Args     []ProblemArg // in the order of the parameters, with tensor maps after those
	Tensors  []ProblemTensor
}

// ProblemArg is one argument: a tensor's address, what the copy engine is told of a tensor, or a value.
type ProblemArg struct {
	Tensor string              `json:",omitempty"`
	Map    *cuda.TensorMapSpec `json:",omitempty"` // of the tensor, but its address
	Bits   uint64              `json:",omitempty"` // of a value
	Bytes  int                 `json:",omitempty"` // of a value: 1, 2, 4 or 8
}

// ProblemTensor is a tensor's place in memory.
type ProblemTensor struct {
	Name             string
	Elem             string // its element's code, such as f16
	Index            int    // of the parameter: generated contents depend on it
	Extents, Strides []int64
	Read, Write      bool
}

// Resolve checks the arguments as the launcher would and works everything out for them.
func Resolve(c *cir.Kernel, args Args) (*Problem, error) {
	p, err := resolve(c, args, onDevice)
	if err != nil {
		return nil, err
	}
	out := &Problem{Dims: p.dims, Scalars: p.scalars, Defaults: p.defaults, Grid: p.grid}
	for i, q := range c.Params {
		switch q.Class {
		case cir.Pointer:
			t := p.tensors[len(out.Tensors)]
			out.Args = append(out.Args, ProblemArg{Tensor: q.Name})
			out.Tensors = append(out.Tensors, ProblemTensor{Name: q.Name, Elem: q.Elem.String(), Index: i,
				Extents: t.extents, Strides: t.strides, Read: q.Read, Write: q.Write})
		case cir.Dim:
			out.Args = append(out.Args, ProblemArg{Bits: uint64(uint32(p.dims[q.Sym.Name])), Bytes: 4})
		default:
			out.Args = append(out.Args, ProblemArg{Bits: elem.Encode(q.Elem, p.scalars[q.Name]), Bytes: max(q.Elem.Bits()/8, 1)})
		}
	}
	specs, err := TensorMaps(c, p.value)
	for i := range specs {
		out.Args = append(out.Args, ProblemArg{Tensor: c.Maps[i].Of.Name, Map: &specs[i]})
	}
	return out, err
}

// tensor is the one that Fill and Judge work on.
func (t *ProblemTensor) tensor() (*tensor, error) {
	kind, err := elem.ParseKind(t.Elem)
	if err == nil && (len(t.Extents) != len(t.Strides) || kind.Bits() > 64) {
		err = fmt.Errorf("expected as many strides as extents, and elements of at most 64 bits, but got %v, %v and %s", t.Extents, t.Strides, t.Elem)
	}
	if err == nil {
		err = t.bounded()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	out := &tensor{p: &cir.Param{Name: t.Name, Elem: kind, Read: t.Read, Write: t.Write}, width: max(kind.Bits()/8, 1), extents: t.Extents, strides: t.Strides}
	out.size()
	return out, nil
}

// maxProblem bounds the elements of a tensor, and the places from its first to its last.
const maxProblem = 1 << 50

// bounded refuses extents and strides whose products leave what memory can hold: a problem may come from disk.
func (t *ProblemTensor) bounded() error {
	total, count := int64(1), int64(1)
	for i, e := range t.Extents {
		s := t.Strides[i]
		if e < 0 || s < 0 || e > 0 && total > maxProblem/e || s > 0 && e > 1 && e-1 > (maxProblem-count)/s {
			return fmt.Errorf("expected extents and strides of 0 or more, which span at most 2^50 elements, but got %v and %v", t.Extents, t.Strides)
		}
		if e > 0 { // one of 0 leaves no elements, whatever the others are
			total *= e
			count += (e - 1) * s
		}
	}
	return nil
}

// Size is the bytes of the tensor's memory, gaps included.
func (t *ProblemTensor) Size() (int64, error) {
	x, err := t.tensor()
	if err != nil {
		return 0, err
	}
	return x.count * int64(x.width), nil
}

// Fill makes the contents before a run: those that Run makes of the same seed.
func (t *ProblemTensor) Fill(seed int64) ([]byte, error) {
	x, err := t.tensor()
	if err != nil {
		return nil, err
	}
	x.fill(seed, t.Index, nil)
	return x.before, nil
}

// Sample is what a reference expects of some elements of an output.
type Sample struct {
	Output  string
	Offsets []int64   // in elements
	Want    []float64 // as the output's kind holds it
	RMS     float64   // of Want, which tolerances are relative to
	// Special holds NaN, +Inf and -Inf by their places in Want, which has 0 there: JSON has no numbers for them.
	Special map[int]string `json:",omitempty"`
}

// Expected computes what the kernel's references (dsl.Expect) say of the outputs, at the elements that Run compares.
func Expected(ctx context.Context, k *dsl.Kernel, c *cir.Kernel, args Args) ([]Sample, error) {
	if k == nil || c == nil {
		return nil, errors.New("check: expected a kernel, but got nil")
	}
	p, err := newPlan(c, args, onDevice)
	if err != nil {
		return nil, err
	}
	ref := p.reference()
	var out []Sample
	for _, e := range k.Expectations() {
		i := slices.IndexFunc(p.tensors, func(t *tensor) bool { return t.p.Name == e.Output })
		if i < 0 {
			return nil, fmt.Errorf("internal error: %s: a reference for %s, which is no tensor", c.Name, e.Output)
		}
		t := p.tensors[i]
		at := t.sample()
		s := Sample{Output: e.Output, Want: make([]float64, len(at))}
		if err := reference(ctx, e, ref, at, s.Want); err != nil {
			return nil, named(c.Name, err)
		}
		for n := range at {
			s.Offsets = append(s.Offsets, t.offset(at[n]))
			if w := s.Want[n]; w == w { // a NaN stays one, whatever the kind
				s.Want[n] = elem.Decode(t.p.Elem, elem.Encode(t.p.Elem, w))
			}
		}
		s.Expect(s.Want)
		out = append(out, s)
	}
	return out, nil
}

// Pick chooses elements of an output that has no reference, to compare several kernels' results with each other.
func (t *ProblemTensor) Pick() (Sample, error) {
	x, err := t.tensor()
	if err != nil {
		return Sample{}, err
	}
	s := Sample{Output: t.Name}
	for _, at := range x.sample() {
		s.Offsets = append(s.Offsets, x.offset(at))
	}
	return s, nil
}

// Expect sets what the elements must be.
func (s *Sample) Expect(want []float64) {
	s.Want, s.RMS, s.Special = slices.Clone(want), rootMeanSquare(want), nil
	for i, w := range want {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			if s.Special == nil {
				s.Special = map[int]string{}
			}
			s.Want[i], s.Special[i] = 0, fmt.Sprint(w)
		}
	}
}

// wanted is what element i of the sample must be.
func (s *Sample) wanted(i int) float64 {
	switch s.Special[i] {
	case "":
		return s.Want[i]
	case "+Inf":
		return math.Inf(1)
	case "-Inf":
		return math.Inf(-1)
	}
	return math.NaN()
}

// Values reads the sample's elements from the output's memory.
func (s *Sample) Values(t *ProblemTensor, mem []byte) ([]float64, error) {
	x, err := t.tensor()
	if err != nil {
		return nil, err
	}
	if int64(len(mem)) != x.count*int64(x.width) {
		return nil, fmt.Errorf("%s: expected %d bytes, but got %d", t.Name, x.count*int64(x.width), len(mem))
	}
	out := make([]float64, len(s.Offsets))
	for i, o := range s.Offsets {
		if o < 0 || o >= x.count {
			return nil, fmt.Errorf("%s: expected an offset below %d, but got %d", t.Name, x.count, o)
		}
		out[i] = elem.Decode(x.p.Elem, x.bits(mem, o))
	}
	return out, nil
}

// Judge compares values with what is expected; the tolerance is dsl.Expect's. It returns the worst element in words,
// or nothing if all are right.
func (s *Sample) Judge(t *ProblemTensor, got []float64, tolerance float64) string {
	wrong, worst, at := 0, 0.0, 0
	kind, err := elem.ParseKind(t.Elem)
	if err != nil {
		return err.Error()
	}
	for i := range s.Want {
		w := s.wanted(i)
		d := distance(got[i], w)
		if !math.IsInf(d, 1) && d <= allowed(kind, w, tolerance, s.RMS) {
			continue
		}
		if wrong++; wrong == 1 || d > worst {
			worst, at = d, i
		}
	}
	if wrong == 0 {
		return ""
	}
	return fmt.Sprintf("%s%v: expected %.6g, but got %.6g (%d of %d elements compared are wrong)",
		s.Output, t.coordinate(s.Offsets[at]), s.wanted(at), got[at], wrong, len(s.Want))
}

// coordinate is where an offset lies, of a layout in which the larger strides step over the smaller modes.
func (t *ProblemTensor) coordinate(offset int64) []int64 {
	order := make([]int, len(t.Strides))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.Strides[b], t.Strides[a]) })
	at := make([]int64, len(t.Strides))
	for _, i := range order {
		if t.Strides[i] > 0 && t.Extents[i] > 1 {
			at[i] = min(offset/t.Strides[i], t.Extents[i]-1)
			offset -= at[i] * t.Strides[i]
		}
	}
	return at
}
