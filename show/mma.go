package show

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/internal/text"
)

// operand is what the grids of A, B and C differ in.
type operand struct {
	name     ir.Operand
	modes    string
	row, col int // B above C, A to the left of it
}

// operands are the three grids of an MMA.
func operands() []operand {
	return []operand{{ir.A, "mk", 1, 0}, {ir.B, "nk", 0, 1}, {ir.C, "mn", 1, 1}}
}

// MMA draws the operands of an MMA atom by lane and value: B above with k going down, A on the left, C between them.
func MMA(row *atoms.MMARow) (*Picture, error) {
	if row == nil {
		return nil, fmt.Errorf("expects an MMA atom, but got nil")
	}
	lane, err := algebra.Parse(row.ThrID)
	if err != nil {
		return nil, fmt.Errorf("internal error: %s: %w", row.Name, err)
	}
	extent := map[byte]int64{'m': int64(row.M), 'n': int64(row.N), 'k': int64(row.K)}
	elems := map[ir.Operand]elem.Kind{ir.A: row.EA, ir.B: row.EB, ir.C: row.D}
	p := &Picture{title: row.Name}
	if row.PTX != "" {
		p.notes = append(p.notes, row.PTX)
	}
	p.notes = append(p.notes, "T: lane, V: value of that lane")
	for _, o := range operands() {
		tv, err := row.Operand(byte(o.name))
		if err != nil {
			return nil, err
		}
		tile := algebra.S(extent[o.modes[0]], extent[o.modes[1]])
		g, err := tvGrid(tvSpec{name: string(o.name), tv: tv, tile: tile, modes: o.modes, across: o.name == ir.B, lane: lane, lanes: true})
		if err != nil {
			return nil, fmt.Errorf("%s, operand %c: %w", row.Name, o.name, err)
		}
		g.row, g.col = o.row, o.col
		g.head = []string{operandHead(o, tile, elems[o.name]), tv.String()}
		g.rule = [2]int64{8, 8}
		if o.name == ir.A {
			g.rule[1] = words(elems[o.name])
		} else if o.name == ir.B {
			g.rule[0] = words(elems[o.name])
		}
		p.grids = append(p.grids, g)
	}
	return p.fits()
}

// words is the elements of 16 bytes, which is how far the blocks of an operand reach along k; 0 for wide elements.
func words(k elem.Kind) int64 {
	if n := int64(128 / max(k.Bits(), 1)); n >= 4 {
		return n
	}
	return 0
}

func operandHead(o operand, tile algebra.Shape, k elem.Kind) string {
	return fmt.Sprintf("%c (%s,%s)=%s %s", o.name, upper(o.modes[0]), upper(o.modes[1]), tile, k)
}

func upper(c byte) string { return string(c - 'a' + 'A') }

// TiledMMA draws the operands of a tiled MMA by thread and value, arranged as MMA does. Threads that share an element
// stand in one cell.
func TiledMMA(m *ir.TiledMMA) (*Picture, error) {
	if m == nil || m.Row == nil {
		return nil, fmt.Errorf("expects a tiled MMA, but got nil")
	}
	size := map[byte]int{'m': 0, 'n': 1, 'k': 2}
	atom := [3]int64{int64(m.Row.M), int64(m.Row.N), int64(m.Row.K)}
	p := &Picture{
		title: "TiledMMA of " + m.Row.Name,
		notes: []string{
			fmt.Sprintf("tile (M,N,K)=(%d,%d,%d), %s", m.Tile[0], m.Tile[1], m.Tile[2], text.Count(m.NumThr, "thread")),
			"ThrLayoutVMNK " + m.ThrVMNK.String(),
			"T: thread, V: value of that thread; lines part atoms",
		},
	}
	for _, o := range operands() {
		i, j := size[o.modes[0]], size[o.modes[1]]
		tile := algebra.S(m.Tile[i], m.Tile[j])
		tv := m.TV[o.name]
		g, err := tvGrid(tvSpec{name: string(o.name), tv: tv, tile: tile, modes: o.modes, across: o.name == ir.B})
		if err != nil {
			return nil, fmt.Errorf("operand %c: %w", o.name, err)
		}
		g.row, g.col = o.row, o.col
		g.head = []string{operandHead(o, tile, m.Elem(o.name)), tv.String()}
		for k, mode := range [2]int{i, j} {
			if _, permuted := m.Perm[mode].(algebra.Layout); !permuted {
				g.rule[k] = atom[mode]
			}
		}
		if o.name == ir.B {
			g.rule[0], g.rule[1] = g.rule[1], g.rule[0]
		}
		p.grids = append(p.grids, g)
	}
	return p.fits()
}

// fits refuses a picture of too many cells in all.
func (p *Picture) fits() (*Picture, error) {
	n := int64(0)
	for _, g := range p.grids {
		n += g.rows * g.cols
	}
	if n > 2*MaxCells {
		return nil, fmt.Errorf("%s: %d cells are too many to draw; the limit is %d", p.title, n, 2*MaxCells)
	}
	return p, nil
}
