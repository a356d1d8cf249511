package show

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/internal/text"
)

// rampSteps is the number of shades of a layout's offsets.
const rampSteps = 16

// Layout draws what a layout of rank 1 or 2 yields at every coordinate, the first mode going down and the second to the
// right. Larger offsets are deeper blue. Strides may be symbolic or have a basis; extents are constants.
func Layout(l algebra.Layout) (*Picture, error) {
	if err := l.Err(); err != nil {
		return nil, err
	}
	rows, cols, err := extents("layout", l.Shape())
	if err != nil {
		return nil, err
	}
	g := newGrid("layout", rows, cols)
	g.rule = innerExtents(l.Shape(), rows, cols)
	for i := range g.cells {
		v, err := l.AtArith(place(l.Shape(), int64(i), rows))
		if err != nil {
			return nil, err
		}
		at, err := algebra.IdxToCrd(algebra.CoordOf(int64(i)), l.Shape())
		if err != nil {
			return nil, err
		}
		g.cells[i] = cell{lines: []string{v.String()}, class: "n", tip: at.String() + " -> " + v.String()}
	}
	shade(l, g)
	p := &Picture{title: l.String(), grids: []*grid{g}}
	note := text.Count(rows*cols, "coordinate")
	if c, err := l.Plain().Cosize(); err == nil && l.IsStatic() {
		note += fmt.Sprintf("; cosize %s", c)
	}
	if rows > 1 {
		note += "; mode 0 goes down, mode 1 to the right"
	}
	p.notes = []string{note}
	return p, nil
}

// place is the coordinate of a cell.
func place(s algebra.Shape, i, rows int64) algebra.Coord {
	if s.Rank() == 2 && !s.IsLeaf() {
		return algebra.C(i%rows, i/rows)
	}
	return algebra.CoordOf(i)
}

// innerExtents is where the innermost of several modes ends, down and to the right.
func innerExtents(s algebra.Shape, rows, cols int64) (rule [2]int64) {
	if s.Rank() != 2 || s.IsLeaf() {
		return rule
	}
	for k, n := range [2]int64{rows, cols} {
		for _, e := range s.Mode(k).Leaves() {
			if x, _ := e.IsConst(); x > 1 {
				if x < n {
					rule[k] = x
				}
				break
			}
		}
	}
	return rule
}

// shade colours a static layout's cells by where their offsets lie between the least and the greatest.
func shade(l algebra.Layout, g *grid) {
	if !l.IsStatic() {
		return
	}
	lo, hi := l.AtInt(0), l.AtInt(0)
	for i := range g.cells {
		v := l.AtInt(int64(i))
		lo, hi = min(lo, v), max(hi, v)
	}
	for i := range g.cells {
		step := int64(0)
		if span := uint64(hi - lo); span > 0 {
			step = int64(float64(uint64(l.AtInt(int64(i))-lo)) / float64(span) * (rampSteps - 1))
		}
		g.cells[i].class = "r" + number(step)
	}
}
