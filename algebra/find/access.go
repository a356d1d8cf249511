// Package find looks for layouts that meet a goal: a swizzle or a padding that makes a shared-memory layout free of
// bank conflicts for given accesses, and thread and value layouts of a coalesced copy.
//
// Shared memory has 32 banks of 4 bytes. What one instruction moves is served in phases of at most 128 bytes: of
// eight threads with 16 bytes each, sixteen with 8, thirty-two with at most 4. A phase takes as many cycles as the
// most distinct 4-byte words of it that lie in one bank (CUDA C++ Programming Guide, "Shared Memory").
package find

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
)

const (
	banks     = 32
	bankBytes = 4
	warp      = 32
	blockMost = 1024              // threads that a block has at most
	phaseMost = banks * bankBytes // bytes that one phase moves at most
)

// Access is what the threads of a phase touch at once.
type Access struct {
	Name   string
	Bytes  int       // of one thread
	Phases [][]int64 // for each phase, the 1-D coordinates in the shared layout at which its threads begin

	vectors []vector // of a TV layout
}

// vector is what a TV layout moves at once: where its values are in the tile, which must be side by side.
type vector struct {
	thread, value int64 // the first of them
	at            []int64
}

// together refuses a vector whose values are not in the tile, one after the other along its contiguous mode.
func (v vector) together(name string, l algebra.Layout, n, step int64) error {
	for k, c := range v.at {
		if c < 0 || c >= n {
			return fmt.Errorf("%s: expected coordinates in the tile %s, from 0 to %d, but thread %d has value %d at %d", name, l.Shape(), n-1, v.thread, v.value+int64(k), c)
		}
		if want := v.at[0] + int64(k)*step; c != want {
			return fmt.Errorf("%s: expected the %d values of a vector side by side in the tile %s, where the contiguous mode goes on by %d, but thread %d has value %d at coordinate %d and value %d at %d, not at %d",
				name, len(v.at), l.Shape(), step, v.thread, v.value, v.at[0], v.value+int64(k), c, want)
		}
	}
	return nil
}

// Rows are the accesses of ldmatrix: 8x8 matrices of 16-bit elements, of which each of eight threads brings one row
// of 16 bytes. Rows run along the mode of the layout that is contiguous.
func Rows(l algebra.Layout, bits int64) (Access, error) {
	r, err := matrix(l, bits)
	if err != nil {
		return Access{}, err
	}
	vec := 128 / bits
	if bits > 128 || 128%bits != 0 || r.run%vec != 0 || r.other%8 != 0 {
		return Access{}, fmt.Errorf("ldmatrix reads 8 rows of %d elements: %s does not have whole ones", vec, l.Shape())
	}
	a := Access{Name: "ldmatrix by rows", Bytes: 16}
	for chunk := int64(0); chunk < r.run; chunk += vec {
		for row := int64(0); row < r.other; row += 8 {
			phase := make([]int64, 8)
			for i := range phase {
				phase[i] = chunk*r.runStep + (row+int64(i))*r.otherStep
			}
			a.Phases = append(a.Phases, phase)
		}
	}
	return a, nil
}

// matrixOf tells how a matrix's 1-D coordinate moves along the mode that is contiguous, and along the other.
type matrixOf struct{ run, other, runStep, otherStep int64 }

// sharedMost is the most shared memory that a block has on any GPU, in bytes.
const sharedMost = 227 << 10

// holds refuses a shape whose elements do not fit shared memory, before any of them is looked at.
func holds(s algebra.Shape, bits int64) error {
	if n, ok := s.IntSize(); !ok || n > sharedMost*8/max(bits, 1) {
		return fmt.Errorf("expected at most %d elements of %d bits, which a block's %d bytes of shared memory hold, but got the shape %s", sharedMost*8/max(bits, 1), bits, sharedMost, s)
	}
	return nil
}

// reaches refuses a layout whose offsets do not fit shared memory, however few elements it has.
func reaches(l algebra.Layout, bits int64) error {
	if top := largest(l); top >= sharedMost*8/max(bits, 1) {
		return fmt.Errorf("expected offsets below %d elements of %d bits, which a block's %d bytes of shared memory hold, but the largest offset of %s is %d",
			sharedMost*8/max(bits, 1), bits, sharedMost, l, top)
	}
	return nil
}

func matrix(l algebra.Layout, bits int64) (matrixOf, error) {
	if !l.IsStatic() || l.Rank() != 2 || l.Shape().IsLeaf() {
		return matrixOf{}, fmt.Errorf("%s is not static with two modes", l)
	}
	if err := holds(l.Shape(), bits); err != nil {
		return matrixOf{}, err
	}
	if err := reaches(l, bits); err != nil {
		return matrixOf{}, err
	}
	m, _ := l.Shape().Mode(0).IntSize()
	n, _ := l.Shape().Mode(1).IntSize()
	switch {
	case contiguous(l.Plain().Mode(1)):
		return matrixOf{n, m, m, 1}, nil
	case contiguous(l.Plain().Mode(0)):
		return matrixOf{m, n, 1, m}, nil
	}
	return matrixOf{}, fmt.Errorf("neither mode of %s is contiguous", l)
}

// contiguous reports whether the first step of a mode is 1.
func contiguous(l algebra.Layout) bool {
	n, _ := l.IntSize()
	return n > 1 && l.AtInt(1)-l.AtInt(0) == 1
}

// Vectors are the accesses of a TV layout, (thread, value) -> 1-D coordinate of the tile, whose threads move vectors
// of vec values each with one instruction.
func Vectors(name string, tv algebra.Layout, bits, vec int64) (Access, error) {
	if !tv.IsStatic() || tv.Rank() != 2 || tv.Shape().IsLeaf() {
		return Access{}, fmt.Errorf("%s is no TV layout: it has two modes, threads and values", tv)
	}
	if err := holds(tv.Shape(), bits); err != nil {
		return Access{}, err
	}
	threads, _ := tv.Shape().Mode(0).IntSize()
	values, _ := tv.Shape().Mode(1).IntSize()
	if vec < 1 || values%vec != 0 {
		return Access{}, fmt.Errorf("%d values of a thread are not whole vectors of %d", values, vec)
	}
	if err := vectorBits(vec*bits, bits); err != nil {
		return Access{}, err
	}
	bytes := vec * bits / 8
	a := Access{Name: name, Bytes: int(bytes)}
	per := min(phaseMost/max(bytes, bankBytes), warp)
	for v := int64(0); v < values; v += vec {
		for t := int64(0); t < threads; t += per {
			var phase []int64
			for i := t; i < min(t+per, threads); i++ {
				one := vector{thread: i, value: v}
				for k := range vec {
					one.at = append(one.at, tv.AtInt(i+(v+k)*threads))
				}
				phase = append(phase, one.at[0])
				a.vectors = append(a.vectors, one)
			}
			a.Phases = append(a.Phases, phase)
		}
	}
	return a, nil
}

// vectorBits refuses what no instruction moves at once: it takes 1, 2, 4, 8 or 16 bytes.
func vectorBits(n, elem int64) error {
	if n < 8 || n > 128 || n&(n-1) != 0 || elem < 1 || n%elem != 0 {
		return fmt.Errorf("expected a vector of 8, 16, 32, 64 or 128 bits that holds whole elements of %d, but got %d bits", elem, n)
	}
	return nil
}

// Conflicts is what an access costs in a layout.
type Conflicts struct {
	Access Access
	Worst  int // cycles of the worst phase; 1 is free of conflicts
	Total  int // cycles of all phases
	Phase  int // the first phase that is the worst
}

// vectorKept reports whether the elements of each vector stay next to each other and aligned.
func vectorKept(l algebra.Layout, a Access, bits int64, run matrixOf) error {
	vec := int64(a.Bytes) * 8 / bits
	for _, p := range a.Phases {
		for _, c := range p {
			at := l.AtInt(c)
			if at%vec != 0 {
				return fmt.Errorf("the vector at coordinate %d begins at offset %d, which is not a multiple of %d", c, at, vec)
			}
			for k := int64(1); k < vec; k++ {
				if l.AtInt(c+k*run.runStep) != at+k {
					return fmt.Errorf("the vector at coordinate %d does not stay together: element %d is at offset %d", c, k, l.AtInt(c+k*run.runStep))
				}
			}
		}
	}
	return nil
}

// Count is the cost of an access to a layout of elements of the given bits.
func Count(l algebra.Layout, bits int64, a Access) Conflicts {
	out := Conflicts{Access: a}
	for i, p := range a.Phases {
		n := cycles(l, bits, a.Bytes, p)
		out.Total += n
		if n > out.Worst {
			out.Worst, out.Phase = n, i
		}
	}
	return out
}

// cycles is the largest number of distinct words of a phase in one bank.
func cycles(l algebra.Layout, bits int64, bytes int, phase []int64) int {
	var seen [banks][]int64
	most := 0
	for _, c := range phase {
		from := l.AtInt(c) * bits / 8
		for w := from / bankBytes; w*bankBytes < from+int64(bytes); w++ {
			b := w % banks
			if !has(seen[b], w) {
				seen[b] = append(seen[b], w)
				most = max(most, len(seen[b]))
			}
		}
	}
	return most
}

func has(xs []int64, x int64) bool {
	for _, y := range xs {
		if x == y {
			return true
		}
	}
	return false
}
