package show

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/internal/text"
)

// threadColors is the number of fills: 8 hues by the thread's last three bits, 4 tints by the next two.
const threadColors = 32

// maxTip bounds the owners that a tip lists.
const maxTip = 64

// TV draws which thread and value of a TV layout, (thread,value) to the index in the tile with the first mode first,
// stands at each place of the tile. The first mode goes down. Places of several owners name two, or the first and how
// many more; places of none have a dot.
func TV(tv algebra.Layout, tile algebra.Shape) (*Picture, error) {
	g, err := tvGrid(tvSpec{name: "tile", tv: tv, tile: tile})
	if err != nil {
		return nil, err
	}
	return &Picture{
		title: fmt.Sprintf("TV layout %s over %s", tv, tile),
		notes: []string{countsOf(tv) + "; T: thread, V: value"},
		grids: []*grid{g},
	}, nil
}

// countsOf says how many threads and values a TV layout has.
func countsOf(tv algebra.Layout) string {
	nt, _ := tv.Mode(0).IntSize()
	nv, _ := tv.Mode(1).IntSize()
	return text.Count(nt, "thread") + " x " + text.Count(nv, "value")
}

// tvSpec is what one grid of threads and values shows.
type tvSpec struct {
	name   string
	tv     algebra.Layout
	tile   algebra.Shape
	modes  string // the letters of the tile's modes, "mk", or empty
	across bool   // the tile's first mode goes to the right
	lane   algebra.Layout
	lanes  bool // threads are numbered by lane
}

// owner is a thread and one of its values.
type owner struct{ thread, value int64 }

// tvGrid makes the grid of a TV layout over a tile.
func tvGrid(s tvSpec) (*grid, error) {
	if err := rank2(s.tv); err != nil {
		return nil, err
	}
	m, n, err := modes("tile", s.tile)
	if err != nil {
		return nil, err
	}
	rows, cols, letters := m, n, s.modes
	if s.across {
		rows, cols = n, m
		if letters != "" {
			letters = letters[1:] + letters[:1]
		}
	}
	if err := fit("tile", s.tile, rows, cols); err != nil {
		return nil, err
	}
	threads, _ := s.tv.Mode(0).IntSize()
	own, err := owners(s, m*n)
	if err != nil {
		return nil, err
	}
	g := newGrid(s.name, rows, cols)
	if letters != "" {
		g.corner = letters[:1] + `\` + letters[1:]
	}
	for i, o := range own {
		at, i := int64(i), int64(i)
		where := fmt.Sprintf("(%d,%d)", i%m, i/m)
		if s.modes != "" {
			where = fmt.Sprintf("%c=%d %c=%d", s.modes[0], i%m, s.modes[1], i/m)
		}
		if s.across {
			at = i/m + n*(i%m)
		}
		g.cells[at] = ownedCell(where, o, threads)
	}
	return g, nil
}

// owners lists who owns each place of a tile, by thread and then by value.
func owners(s tvSpec, size int64) ([][]owner, error) {
	nt, _ := s.tv.Mode(0).IntSize()
	total, _ := s.tv.IntSize()
	if total > maxPlaces {
		return nil, fmt.Errorf("TV layout %s: %d threads and values are too many to draw; the limit is %d", s.tv, total, maxPlaces)
	}
	own := make([][]owner, size)
	for i := range total {
		at, o := s.tv.AtInt(i), owner{i % nt, i / nt}
		if s.lanes {
			o.thread = s.lane.AtInt(o.thread)
		}
		if at < 0 || at >= size {
			return nil, fmt.Errorf("TV layout %s puts thread %d, value %d at %d, outside the %d elements of the tile %s", s.tv, o.thread, o.value, at, size, s.tile)
		}
		own[at] = append(own[at], o)
	}
	for _, o := range own {
		slices.SortFunc(o, func(a, b owner) int { return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.value, b.value)) })
	}
	return own, nil
}

// ownedCell is the cell of a place with these owners, of so many threads.
func ownedCell(where string, own []owner, threads int64) cell {
	if len(own) == 0 {
		return cell{lines: []string{"·"}, class: "n", tip: where + ": nobody"}
	}
	if v := own[0].value; threads > 2 && int64(len(own)) == threads && sameValue(own) {
		return cell{lines: []string{"all", "V" + number(v)}, class: "n", tip: fmt.Sprintf("%s: all %d threads as V%d", where, threads, v)}
	}
	tip := where + ":"
	for i, o := range own {
		if i == maxTip {
			tip += fmt.Sprintf(" and %d more", len(own)-i)
			break
		}
		tip += fmt.Sprintf(" T%d/V%d", o.thread, o.value)
	}
	return cell{lines: ownerLines(own), class: threadClass(own[0].thread), tip: tip}
}

// sameValue reports whether all owners have the place as the same value.
func sameValue(own []owner) bool {
	return !slices.ContainsFunc(own, func(o owner) bool { return o.value != own[0].value })
}

func threadClass(thread int64) string { return "c" + number(thread%threadColors) }

// ownerLines names a place's threads and their values: two of each at most, or the first and how many more.
func ownerLines(own []owner) []string {
	var threads, values []int64
	for _, o := range own {
		threads, values = append(threads, o.thread), append(values, o.value)
	}
	slices.Sort(values)
	threads, values = slices.Compact(threads), slices.Compact(values)
	if len(threads)*len(values) == len(own) {
		return append(some("T", threads), some("V", values)...)
	}
	pair := func(o owner) string { return fmt.Sprintf("T%d/V%d", o.thread, o.value) }
	if len(own) == 2 {
		return []string{pair(own[0]), pair(own[1])}
	}
	return []string{pair(own[0]), fmt.Sprintf("+%d", len(own)-1)}
}

// some names one or two numbers, or the first and how many more, a line each.
func some(letter string, ns []int64) []string {
	first := letter + number(ns[0])
	switch len(ns) {
	case 1:
		return []string{first}
	case 2:
		return []string{first, letter + number(ns[1])}
	}
	return []string{first, "+" + number(int64(len(ns)-1))}
}
