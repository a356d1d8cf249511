package show

import (
	"fmt"
	"strconv"

	"github.com/gocute/gocute/algebra"
)

// The largest grid: cells down or to the right, and in all.
const (
	MaxSide  = 256
	MaxCells = 128 * 256
)

// maxPlaces bounds the (thread,value) pairs of one grid.
const maxPlaces = 1 << 20

// Picture is a drawing of one or more grids.
type Picture struct {
	title string
	notes []string // what stands below the title
	grids []*grid
}

// Title is the picture's title.
func (p *Picture) Title() string { return p.title }

// Note adds a line below the title and returns the picture.
func (p *Picture) Note(text string) *Picture {
	p.notes = append(p.notes, text)
	return p
}

// grid is a table of cells.
type grid struct {
	name       string   // of the group in the SVG
	row, col   int      // where the grid stands among the picture's grids
	head       []string // lines above
	corner     string   // the names of the two modes
	rows, cols int64
	rowStep    int64 // how many coordinates a cell stands for
	colStep    int64
	rule       [2]int64 // a line after this many rows, columns; 0: none
	cells      []cell   // row + rows*col
}

// cell is one place of a grid.
type cell struct {
	lines []string
	class string
	tip   string // shown when the cell is pointed at
	mark  string // framed together with neighbours of the same mark
}

func newGrid(name string, rows, cols int64) *grid {
	return &grid{name: name, rows: rows, cols: cols, rowStep: 1, colStep: 1, cells: make([]cell, rows*cols)}
}

// extents is the size of a shape's two modes; what has rank 1 is one row. Shapes that are too large, symbolic or of a
// higher rank are refused.
func extents(what string, s algebra.Shape) (rows, cols int64, err error) {
	rows, cols, err = modes(what, s)
	if err == nil {
		err = fit(what, s, rows, cols)
	}
	return rows, cols, err
}

// fit refuses what has too many cells.
func fit(what string, s algebra.Shape, rows, cols int64) error {
	if rows > MaxSide || cols > MaxSide || rows*cols > MaxCells {
		return fmt.Errorf("%s %s: %d x %d cells are too many to draw; the limit is %d a side and %d in all", what, s, rows, cols, MaxSide, MaxCells)
	}
	return nil
}

// modes is extents of any size.
func modes(what string, s algebra.Shape) (rows, cols int64, err error) {
	if err := s.Err(); err != nil {
		return 0, 0, err
	}
	n, static := s.IntSize()
	if !s.IsStatic() || !static {
		return 0, 0, fmt.Errorf("%s %s: a picture needs constant extents", what, s)
	}
	if s.Rank() > 2 {
		return 0, 0, fmt.Errorf("%s %s: a picture has two modes, down and to the right, but this has %d; group them, as in ((4,2),8)", what, s, s.Rank())
	}
	rows, cols = 1, n
	if s.Rank() == 2 && !s.IsLeaf() {
		rows, _ = s.Mode(0).IntSize()
		cols, _ = s.Mode(1).IntSize()
	}
	if rows < 1 || cols < 1 {
		return 0, 0, fmt.Errorf("%s %s has no elements to draw", what, s)
	}
	return rows, cols, nil
}

// number is a decimal integer.
func number(n int64) string { return strconv.FormatInt(n, 10) }

// rank2 reports whether a layout is static, with two modes.
func rank2(l algebra.Layout) error {
	if err := l.Err(); err != nil {
		return err
	}
	if !l.IsStatic() || l.Rank() != 2 || l.Shape().IsLeaf() {
		return fmt.Errorf("a TV layout is static and has two modes, threads and values, but %s is not", l)
	}
	return nil
}
