package algebra

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gocute/gocute/algebra/sym"
)

// maxCells bounds the cells of a picture.
const maxCells = 1 << 14

// Grid draws a layout of rank 1 or 2 as a grid of its values: the first mode goes down, the second to the
// right, both by their 1-D index, with the indices at the edges. Strides may be symbolic or have a basis.
func Grid(l Layout) (string, error) {
	if e := bad(l); e != nil {
		return "", e.in("grid", l)
	}
	m, n, e := gridSize(l.Shape())
	if e != nil {
		return "", e.in("grid", l)
	}
	cells := make([]string, m*n)
	for i := range cells {
		v, err := l.AtArith(CoordOf(i))
		if err != nil {
			return "", err
		}
		cells[i] = v.String()
	}
	return l.String() + "\n" + drawGrid(cells, int(m), int(n)), nil
}

// GridTV draws which thread and value of a TV layout, (thread, value) -> index in the tile with the first mode
// first, stands at each place of a tile: T3/V1. Places that several own show the first and how many more, places
// that none owns show a dot.
func GridTV(tv Layout, tile Shape) (string, error) {
	if e := bad(tv, extents(tile)); e != nil {
		return "", e.in("grid", tv, tile)
	}
	f, static := intFn(tv)
	if !static || tv.Rank() != 2 || tv.shape.isLeaf() {
		return "", failf("a TV layout is static and has two modes, threads and values").in("grid", tv, tile)
	}
	m, n, e := gridSize(tile)
	if e != nil {
		return "", e.in("grid", tv, tile)
	}
	threads, _ := productOf(tv.shape.sub[0]).IsConst()
	if f.n > EvalLimit {
		return "", failf("%d threads and values are too many to draw", f.n).in("grid", tv, tile)
	}
	cells, owners := make([]string, m*n), make([]int, m*n)
	for i := range f.n {
		at := f.at(i)
		if at < 0 || at >= m*n {
			return "", failf("thread %d, value %d is at %d, outside the tile of %d", i%threads, i/threads, at, m*n).in("grid", tv, tile)
		}
		if owners[at]++; owners[at] == 1 {
			cells[at] = fmt.Sprintf("T%d/V%d", i%threads, i/threads)
		}
	}
	for i, k := range owners {
		switch {
		case k == 0:
			cells[i] = "."
		case k > 1:
			cells[i] += fmt.Sprintf("+%d", k-1)
		}
	}
	return drawGrid(cells, int(m), int(n)), nil
}

// gridSize is how far the two modes go; what has rank 1 is one row.
func gridSize(s Shape) (m, n int64, _ *Error) {
	if s.Rank() > 2 {
		return 0, 0, failf("a grid has two modes, %s has %d", s, s.Rank()).hint("group the modes into two")
	}
	size, ok := s.IntSize()
	if !ok {
		return 0, 0, failf("the extents of %s must be constants", s)
	}
	if size > maxCells {
		return 0, 0, failf("%d cells are more than %d", size, maxCells)
	}
	if s.Rank() < 2 || s.n.isLeaf() {
		return 1, size, nil
	}
	m, _ = productOf(s.n.sub[0]).IsConst()
	return m, size / max(m, 1), nil
}

// drawGrid lines up cells, the first index going down, below a row of column numbers.
func drawGrid(cells []string, m, n int) string {
	edge := len(exprText(sym.Int(m - 1)))
	width := len(exprText(sym.Int(n - 1)))
	for _, c := range cells {
		width = max(width, utf8.RuneCountInString(c))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%*s ", edge, "")
	for j := range n {
		fmt.Fprintf(&b, " %*d", width, j)
	}
	b.WriteByte('\n')
	for i := range m {
		fmt.Fprintf(&b, "%*d|", edge, i)
		for j := range n {
			c := cells[i+j*m]
			fmt.Fprintf(&b, " %*s", width, c)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
