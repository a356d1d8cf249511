package ir

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/elem"
)

// TiledMMA is an MMA atom laid out over warps and permutations of a tile, without Go's types.
type TiledMMA struct {
	Row     *atoms.MMARow
	ThrVMNK algebra.Layout // (ThrV,ThrM,ThrN,ThrK) -> thread
	Perm    [3]any         // per mode of (M,N,K): algebra.Underscore, an int64 or an algebra.Layout
	Tile    [3]int64       // (M,N,K)
	TV      map[Operand]algebra.Layout
	NumThr  int64
}

// Operand names an operand of an MMA.
type Operand byte

// The operands of an MMA, with the modes of their tiles.
const (
	A Operand = 'A' // (M,K)
	B Operand = 'B' // (N,K)
	C Operand = 'C' // (M,N)
)

// modes returns the indices in (M,N,K) of the operand's two modes and of the one that it lacks.
func (o Operand) modes() (i, j, lacks int) {
	switch o {
	case A:
		return 0, 2, 1
	case B:
		return 1, 2, 0
	default:
		return 0, 1, 2
	}
}

// Elem is the element type of an operand.
func (m *TiledMMA) Elem(o Operand) elem.Kind {
	return map[Operand]elem.Kind{A: m.Row.EA, B: m.Row.EB, C: m.Row.D}[o]
}

// Regs is what the instruction takes for an operand.
func (m *TiledMMA) Regs(o Operand) atoms.Regs {
	return map[Operand]atoms.Regs{A: m.Row.RA, B: m.Row.RB, C: m.Row.RD}[o]
}

// NewTiledMMA repeats an atom over threads by atomLayout, (M,N,K) -> atom, and permutes the tile by perm.
func NewTiledMMA(row *atoms.MMARow, atomLayout algebra.Layout, perm [3]any) (*TiledMMA, error) {
	if row == nil {
		return nil, fmt.Errorf("expects an MMA atom, but got none")
	}
	if err := atomLayout.Err(); err != nil {
		return nil, err
	}
	if r := atomLayout.Rank(); r > 3 || !atomLayout.IsStatic() {
		return nil, fmt.Errorf("expects a static layout of the atoms over (M,N,K), but got %s", atomLayout)
	}
	atomLayout, err := algebra.AppendTo(atomLayout, 3, algebra.MustParse("1:0"))
	if err != nil {
		return nil, err
	}
	thrID, err := algebra.Parse(row.ThrID)
	if err != nil {
		return nil, fmt.Errorf("internal error: %s: %w", row.Name, err)
	}
	m := &TiledMMA{Row: row, Perm: perm, TV: map[Operand]algebra.Layout{}}
	if m.ThrVMNK, err = algebra.TiledProduct(thrID, algebra.TileBy(atomLayout)); err != nil {
		return nil, fmt.Errorf("the atoms' layout %s cannot repeat %s's threads: %w", atomLayout, row.Name, err)
	}
	atom := [3]int64{int64(row.M), int64(row.N), int64(row.K)}
	for i := range 3 {
		if m.Tile[i], err = tileExtent(perm[i], atom[i], sizeOf(m.ThrVMNK.Mode(i+1)), "MNK"[i]); err != nil {
			return nil, err
		}
	}
	for _, o := range []Operand{A, B, C} {
		if m.TV[o], err = m.operandTV(o); err != nil {
			return nil, fmt.Errorf("operand %c: %w", o, err)
		}
	}
	m.NumThr = sizeOf(m.TV[A].Mode(0))
	return m, nil
}

// tileExtent is the size of a permutation, or of the atoms side by side where there is none.
func tileExtent(perm any, atom, thr int64, mode byte) (int64, error) {
	n := int64(0)
	switch p := perm.(type) {
	case int64:
		n = p
	case algebra.Layout:
		if err := p.Err(); err != nil {
			return 0, err
		}
		n = sizeOf(p)
	default:
		return atom * thr, nil
	}
	if n <= 0 || n%(atom*thr) != 0 {
		return 0, fmt.Errorf("the tile's extent in mode %c is %d, which %d atoms of %d do not divide", mode, n, thr, atom)
	}
	return n, nil
}

// Divided is thrfrg_A, _B or _C: ((ThrV,(ThrI,ThrJ)),(FrgV,(RestI,RestJ,…))) of a tensor over the operand's modes.
// Tiles may reach over the edges of a tensor that is to be covered; others must be whole tiles.
func (m *TiledMMA) Divided(l algebra.Layout, o Operand, cover bool) (algebra.Layout, error) {
	none := algebra.Layout{}
	i, j, _ := o.modes()
	if l.Rank() < 2 {
		return none, fmt.Errorf("expects a tensor over (%c,%c), but got %s", "MNK"[i], "MNK"[j], l)
	}
	shape := algebra.S(m.Tile[i], m.Tile[j])
	refuse := func(err error) (algebra.Layout, error) {
		return none, fmt.Errorf("the MMA's tile %s does not divide the tensor %s: %w", shape, l, err)
	}
	permuted, err := permute(l, algebra.T(m.Perm[i], m.Perm[j]), cover)
	if err != nil {
		return refuse(err)
	}
	atom := [3]int64{int64(m.Row.M), int64(m.Row.N), int64(m.Row.K)}
	tiles, err := divide(permuted, algebra.T(atom[i], atom[j]), cover) // ((AtomI,AtomJ),(RestI,RestJ))
	if err != nil {
		return refuse(err)
	}
	tv, err := m.Row.Operand(byte(o))
	if err != nil {
		return none, fmt.Errorf("internal error: %w", err)
	}
	byThr, err := algebra.ComposeTiler(tiles, algebra.T(tv, algebra.Underscore)) // ((ThrV,FrgV),(RestI,RestJ))
	if err != nil {
		return none, err
	}
	rest, err := divide(byThr.Mode(1), algebra.T(sizeOf(m.ThrVMNK.Mode(i+1)), sizeOf(m.ThrVMNK.Mode(j+1))), cover) // ((ThrI,ThrJ),(RestI,RestJ))
	if err != nil {
		return refuse(err)
	}
	return algebra.Make(algebra.Make(byThr.Mode(0, 0), rest.Mode(0)), algebra.Make(byThr.Mode(0, 1), rest.Mode(1))), nil
}

// permute divides the modes of a tensor by the tiled MMA's permutations.
func permute(l algebra.Layout, t algebra.Tiler, cover bool) (algebra.Layout, error) {
	if l.Shape().IsStatic() && !cover {
		return algebra.LogicalDivide(l, t)
	}
	covered, err := algebra.LogicalDivideCeil(l, t)
	return covered.Layout, err
}

// operandTV is the (thr,val) -> tile layout of an operand, for all threads: those that differ only in the mode that
// the operand lacks share their elements.
func (m *TiledMMA) operandTV(o Operand) (algebra.Layout, error) {
	none := algebra.Layout{}
	i, j, lacks := o.modes()
	div, err := m.Divided(algebra.Compact(algebra.S(m.Tile[i], m.Tile[j])), o, false)
	if err != nil {
		return none, err
	}
	n := func(k int) int64 { return sizeOf(m.ThrVMNK.Mode(k + 1)) }
	var modes algebra.Tiler
	pair := func(a, b, sa, sb int64) algebra.Layout {
		return algebra.MustLayout(algebra.S(a, b), algebra.D(sa, sb))
	}
	switch {
	case o == A: // (M,N) -> M, then K
		modes = algebra.T(pair(n(0), n(1), 1, 0), algebra.Underscore)
	case o == B: // (M,N) -> N, then K
		modes = algebra.T(pair(n(0), n(1), 0, 1), algebra.Underscore)
	case n(lacks) > 1: // M, then (N,K) -> N
		modes = algebra.T(algebra.Underscore, pair(n(1), n(2), 1, 0))
	default:
		modes = algebra.T(algebra.Underscore, algebra.Underscore)
	}
	if o != C || n(lacks) > 1 {
		if div, err = algebra.ComposeTiler(div, algebra.T(algebra.T(algebra.Underscore, modes), algebra.Underscore)); err != nil {
			return none, err
		}
	}
	ids, err := m.threadCoords()
	if err != nil {
		return none, err
	}
	return algebra.ComposeTiler(div, algebra.T(ids, algebra.Underscore))
}

// threadCoords maps a thread to its (ThrV,ThrM,ThrN,ThrK). Threads that the layout skips, as those between the halves
// of a quadpair, share the coordinates of others.
func (m *TiledMMA) threadCoords() (algebra.Layout, error) {
	skipped, err := algebra.ComplementSelf(m.ThrVMNK)
	if err != nil {
		return skipped, err
	}
	ids, err := algebra.RightInverse(algebra.Make(m.ThrVMNK, skipped))
	if err != nil {
		return ids, err
	}
	return algebra.Compose(algebra.MustLayout(algebra.S(m.ThrVMNK.Size(), 1), algebra.D(1, 0)), ids)
}

// threadCoord is the coordinate of a thread in one mode of ThrVMNK.
func (m *TiledMMA) threadCoord(thread sym.Expr, mode int) sym.Expr {
	return coordIn(m.ThrVMNK.Mode(mode), thread)
}

// Slice selects a thread from a layout that Divided made: (FrgV,RestI,RestJ,…), and the thread's offset.
func (m *TiledMMA) Slice(div algebra.Layout, o Operand, thread sym.Expr, rank int) (algebra.Layout, algebra.Arith, error) {
	i, j, _ := o.modes()
	rest := make([]any, rank)
	for k := range rest {
		rest[k] = algebra.Underscore
	}
	v, ti, tj := m.threadCoord(thread, 0), m.threadCoord(thread, i+1), m.threadCoord(thread, j+1)
	return algebra.Slice(div, algebra.C(algebra.C(v, algebra.C(ti, tj)), algebra.C(algebra.Underscore, algebra.C(rest...))))
}
