package find

import (
	"fmt"
	"iter"

	"github.com/gocute/gocute/algebra"
)

// Goal is a copy between global and shared memory that is asked for.
type Goal struct {
	Tile    algebra.Shape // (M,N)
	Bits    int64         // of an element
	Vector  int64         // bits that a thread moves at once
	Threads int64
	Across  int // the mode that is contiguous in both memories: 0 or 1
}

// Copy is a TiledCopy's layouts: threads and values of one repeat, in the modes of the tile.
type Copy struct {
	Threads, Values algebra.Layout
	TV              algebra.Layout // (thread, value) -> coordinate of one repeat, first mode first
	Repeats         algebra.Shape  // how often it is repeated to cover the tile
	Shared          Result         // the swizzle of a compact shared tile that the stores want
	Reason          string
}

// ThreadValues finds thread and value layouts with which each thread moves whole vectors along the contiguous mode
// and neighbours in a warp move neighbouring vectors: as many threads as fit stand side by side, the others below.
func ThreadValues(g Goal) (Copy, error) {
	m, ok1 := g.Tile.Mode(0).IntSize()
	n, ok2 := g.Tile.Mode(1).IntSize()
	if g.Tile.Err() != nil || !ok1 || !ok2 || g.Tile.Rank() != 2 {
		return Copy{}, fmt.Errorf("the tile %s must have two constant modes", g.Tile)
	}
	for _, e := range g.Tile.Leaves() {
		if n, _ := e.IsConst(); n < 1 {
			return Copy{}, fmt.Errorf("the tile %s: the extent %d must be at least 1", g.Tile, n)
		}
	}
	if g.Bits < 4 {
		return Copy{}, fmt.Errorf("expected elements of at least 4 bits, but got %d", g.Bits)
	}
	if err := vectorBits(g.Vector, g.Bits); err != nil {
		return Copy{}, err
	}
	if err := holds(g.Tile, g.Bits); err != nil {
		return Copy{}, err
	}
	if g.Threads < 1 || g.Threads > blockMost {
		return Copy{}, fmt.Errorf("expected 1 to %d threads, as many as a block has, but got %d", blockMost, g.Threads)
	}
	if g.Across < 0 || g.Across > 1 {
		return Copy{}, fmt.Errorf("expected mode 0 or 1 as the contiguous one, but got %d", g.Across)
	}
	along, other := n, m
	if g.Across == 0 {
		along, other = m, n
	}
	vec := g.Vector / g.Bits
	if along%vec != 0 {
		return Copy{}, fmt.Errorf("the contiguous extent %d is not made of vectors of %d elements; %d bits would do", along, vec, gcd(along, vec)*g.Bits)
	}
	side := gcd(along/vec, g.Threads)
	below := g.Threads / side
	if other%below != 0 {
		return Copy{}, fmt.Errorf("%d threads stand %d side by side and %d below one another, and the other extent %d is not made of %d; %d threads would do",
			g.Threads, side, below, other, below, side*gcd(other, below))
	}
	return g.arrange(side, below, vec, along, other)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (g Goal) arrange(side, below, vec, along, other int64) (Copy, error) {
	var c Copy
	c.Threads = algebra.CompactRight(algebra.S(below, side))
	c.Values = algebra.CompactRight(algebra.S(1, vec))
	c.Repeats = algebra.S(other/below, along/(side*vec))
	if g.Across == 0 {
		c.Threads, c.Values = algebra.Compact(algebra.S(side, below)), algebra.Compact(algebra.S(vec, 1))
		c.Repeats = algebra.S(along/(side*vec), other/below)
	}
	raked, err := algebra.RakedProduct(c.Threads, c.Values)
	if err != nil {
		return c, err
	}
	inverse, err := algebra.RightInverse(raked)
	if err != nil {
		return c, err
	}
	if c.TV, err = algebra.WithShape(inverse, algebra.S(g.Threads, vec)); err != nil {
		return c, err
	}
	return c, g.explain(&c, side, vec)
}

// explain counts the sectors that a warp touches, and finds the swizzle for the shared tile.
func (g Goal) explain(c *Copy, side, vec int64) error {
	shared := algebra.CompactRight(g.Tile)
	if g.Across == 0 {
		shared = algebra.Compact(g.Tile)
	}
	tv, err := onTile(*c, g.Tile)
	if err != nil {
		return err
	}
	access, err := Vectors(fmt.Sprintf("%d-bit stores", g.Vector), tv, g.Bits, vec)
	if err != nil {
		return err
	}
	first := access.Phases
	access.Phases = nil
	for r := range repeats(*c, g.Tile) {
		for _, p := range first {
			moved := make([]int64, len(p))
			for i, x := range p {
				moved[i] = x + r
			}
			access.Phases = append(access.Phases, moved)
		}
	}
	if c.Shared, err = Swizzle(shared, g.Bits, []Access{access}); err != nil {
		return err
	}
	runBytes := side * g.Vector / 8
	moved := min(g.Threads, warp) * g.Vector / 8
	c.Reason = fmt.Sprintf("%d threads side by side move %d bytes in one run, so a warp's %d bytes are %d whole runs; %s",
		side, runBytes, moved, max(1, moved/runBytes), sectors(runBytes))
	return nil
}

func sectors(run int64) string {
	if run%32 == 0 {
		return "every 32-byte sector that is touched is used whole"
	}
	return fmt.Sprintf("a run of %d bytes is no whole number of 32-byte sectors, so where rows are padded some of a sector is not used", run)
}

// repeats are the coordinates in the tile at which the repeats begin.
func repeats(c Copy, tile algebra.Shape) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		m, _ := tile.Mode(0).IntSize()
		n, _ := tile.Mode(1).IntSize()
		rm, _ := c.Repeats.Mode(0).IntSize()
		rn, _ := c.Repeats.Mode(1).IntSize()
		for j := range rn {
			for i := range rm {
				if !yield(i*(m/rm) + j*(n/rn)*m) {
					return
				}
			}
		}
	}
}

// onTile is the TV layout of the first repeat in the 1-D coordinates of the whole tile.
func onTile(c Copy, tile algebra.Shape) (algebra.Layout, error) {
	tm, _ := c.Threads.Shape().Mode(0).IntSize()
	tn, _ := c.Threads.Shape().Mode(1).IntSize()
	vm, _ := c.Values.Shape().Mode(0).IntSize()
	vn, _ := c.Values.Shape().Mode(1).IntSize()
	m, _ := tile.Mode(0).IntSize()
	within, err := algebra.NewLayout(algebra.S(tm*vm, tn*vn), algebra.D(1, m))
	if err != nil {
		return within, err
	}
	return algebra.Compose(within, c.TV)
}
