package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
)

// seed is a row of seeds.jsonl: a layout or a number that one of the documents states.
type seed struct {
	ID     string    `json:"id"`
	Op     string    `json:"op"`
	Setup  seedSetup `json:"setup"`
	Result string    `json:"result"`
	Agrees bool      `json:"agrees"`
}

type seedSetup struct {
	Copy     *copySpec `json:"tiled_copy"`
	MMA      *mmaSpec  `json:"tiled_mma"`
	Tensor   string    `json:"tensor"`
	Shape    string    `json:"shape"`
	Fragment string    `json:"fragment"`
	Layout   string    `json:"layout"`
	Tiler    string    `json:"tiler"`
	Profile  string    `json:"profile"`
	A        string    `json:"a"`
	B        string    `json:"b"`
	Product  string    `json:"product"`
	Coord    string    `json:"coord"`
	Op       string    `json:"op"`
	Elem     string    `json:"elem"`
	Atom     string    `json:"atom"`
	Operand  string    `json:"operand"`
	Thr      string    `json:"thr"`
	Val      string    `json:"val"`
	Thread   int64     `json:"thread"`
	Group    int64     `json:"group"`
	Out      int64     `json:"out"`
	Lane     int64     `json:"lane"`
	V        int64     `json:"v"`
	N        int64     `json:"n"`
	Index    int64     `json:"index"`
}

// seedCase computes one row.
type seedCase struct {
	seedSetup
	t *testing.T
}

// seedFunc computes what the row's result states: a Stringer, an int or a string.
type seedFunc = func(s *seedCase) any

// TestSeeds: every layout and number in the documents comes out of our code. Where a document is wrong the row's
// result is CuTe's.
func TestSeeds(t *testing.T) {
	used := map[string]bool{}
	passed, corrected := 0, 0
	for _, row := range golden[seed](t, "seeds.jsonl") {
		key := row.ID
		f := seedByID[key]
		if f == nil {
			key = row.Op
			f = seedByOp[key]
		}
		if f == nil {
			t.Errorf("%s: no code computes %q", row.ID, row.Op)
			continue
		}
		used[key] = true
		got, err := run(f, &seedCase{row.Setup, t})
		switch {
		case err != nil:
			t.Errorf("%s: %s: %v", row.ID, row.Op, err)
		case fmt.Sprint(got) != row.Result:
			t.Errorf("%s: %s\n  got  %v\n  want %s", row.ID, row.Op, got, row.Result)
		default:
			passed++
			if !row.Agrees {
				corrected++
			}
		}
	}
	for _, table := range []map[string]seedFunc{seedByID, seedByOp} {
		for key := range table {
			require.True(t, used[key], "nothing asks for %q", key)
		}
	}
	t.Logf("passed %d (%d of them where the document is wrong)", passed, corrected)
}

// run turns a panic of ok into an error.
func run(f seedFunc, s *seedCase) (got any, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, isErr := r.(error)
			if !isErr {
				panic(r)
			}
			err = e
		}
	}()
	return f(s), nil
}

// ok is the value of a call that must not fail.
func ok[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (s *seedCase) copy() *ir.TiledCopy        { return ok(s.Copy.build()) }
func (s *seedCase) layout() algebra.Layout     { return ok(algebra.Parse(s.Layout)) }
func (s *seedCase) tensor() algebra.Layout     { return ok(algebra.Parse(s.Tensor)) }
func (s *seedCase) a() algebra.Layout          { return ok(algebra.Parse(s.A)) }
func (s *seedCase) b() algebra.Layout          { return ok(algebra.Parse(s.B)) }
func (s *seedCase) mmaRow() *atoms.MMARow      { return find(atoms.FindMMA, s.Atom) }
func (s *seedCase) copyRow() *atoms.CopyRow    { return find(atoms.FindCopy, s.Op) }
func (s *seedCase) coord() algebra.Coord       { return ok(algebra.ParseCoord(s.Coord)) }
func shapeText(text string) algebra.Shape      { return ok(algebra.ParseShape(text)) }
func layoutText(text string) algebra.Layout    { return ok(algebra.Parse(text)) }
func at(l algebra.Layout, c algebra.Coord) any { return ok(l.At(c)) }

// mma is the row's tiled MMA, or that of its copy.
func (s *seedCase) mma() *ir.TiledMMA {
	if s.MMA == nil {
		return ok(s.Copy.MMA.build())
	}
	return ok(s.MMA.build())
}

// atom is the row's copy instruction on its own, moving elements of the row's type.
func (s *seedCase) atom() *ir.TiledCopy {
	row := s.copyRow()
	e := ok(elem.ParseKind(s.Elem))
	ref := ok(algebra.Recast(layoutText(row.RefBits), 1, int64(e.Bits())))
	return ok(ir.NewTiledCopyTV(row, e, ref, algebra.S(ok(ref.Cosize()))))
}

func find[R any](f func(string) (R, bool), name string) R {
	row, found := f(name)
	if !found {
		panic(fmt.Errorf("package atoms has no %s", name))
	}
	return row
}

// whole is the extent of the tensor that the row partitions.
func (s *seedCase) whole(c *ir.TiledCopy) algebra.Shape {
	switch {
	case s.Shape != "":
		return shapeText(s.Shape)
	case s.Tensor != "":
		return s.tensor().Shape()
	}
	return c.TileShape
}

// copyCoords are the coordinates of a thread's values on one side of a copy, as a text.
func (s *seedCase) copyCoords(side ir.Side, thread int64) []string {
	c := s.copy()
	shape := s.whole(c)
	return coords(s.t, ok(copyView(c, side, probe(algebra.Compact(shape), true))), shape.Rank(), thread)
}

// mmaCoords are the coordinates of a thread's values of an operand.
func (s *seedCase) mmaCoords(o ir.Operand, shape algebra.Shape, thread int64) []string {
	return coords(s.t, ok(mmaView(s.mma(), o, probe(algebra.Compact(shape), true), 0)), shape.Rank(), thread)
}

func coords(t *testing.T, v view, rank int, thread int64) []string {
	out := make([]string, size(v.t.Layout))
	for i := range out {
		out[i] = v.coord(t, rank, thread, int64(i)).String()
	}
	return out
}

// view is a thread's view of the row's tensor on one side of its copy.
func (s *seedCase) view(side ir.Side) view {
	return ok(copyView(s.copy(), side, probe(s.tensor(), false)))
}

// fragment is the layout of an operand's fragment for the row's tensor.
func (s *seedCase) fragment(o ir.Operand) algebra.Layout {
	return ok(ir.OperandLayout(ok(mmaView(s.mma(), o, probe(s.tensor(), false), 0)).t.Layout, o))
}

// operand is the one that the row's copy follows.
func (s *seedCase) operand() ir.Operand { return ir.Operand(s.Copy.Make[len(s.Copy.Make)-1]) }

func spaced[T any](xs []T) string { return strings.Trim(fmt.Sprint(xs), "[]") }

// ints are the values of a layout in order.
func ints(l algebra.Layout) []int64 {
	out := make([]int64, size(l))
	for i := range out {
		out[i] = l.AtInt(int64(i))
	}
	return out
}

func distinct[T comparable](xs []T) int {
	seen := map[T]bool{}
	for _, x := range xs {
		seen[x] = true
	}
	return len(seen)
}

// dropOnes flattens a layout and leaves out modes of extent 1.
func dropOnes(l algebra.Layout) algebra.Layout {
	flat := ok(algebra.Flatten(l))
	var keep []int
	for i := range flat.Rank() {
		if size(flat.Mode(i)) > 1 {
			keep = append(keep, i)
		}
	}
	return ok(algebra.Select(flat, keep...))
}

// eachMode merges what can be within every top mode.
func eachMode(l algebra.Layout) algebra.Layout {
	profile := make([]any, l.Rank())
	for i := range profile {
		profile[i] = 1
	}
	return ok(algebra.CoalesceBy(l, algebra.S(profile...)))
}
