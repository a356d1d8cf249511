package show

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/internal/text"
)

// Shared memory has 32 banks of 32 bits.
const (
	banks    = 32
	bankBits = 32
	warpSize = 32
)

// Access is what one instruction of a warp touches in shared memory: the tile of Copy lies at the first coordinates of
// the layout, Warp counts the copy's warps and Step the instruction's repeats over the tile. The memory serves at most
// 128 bytes at a time; Phase counts those turns, which are 8 lanes each for vectors of 16 bytes.
type Access struct {
	Copy              *ir.TiledCopy
	Side              ir.Side // the side in shared memory
	Warp, Step, Phase int
}

// Smem draws a layout of elements of so many bits in shared memory, coloured by bank; a cell is a word of 4 bytes if
// its elements lie side by side. If an access is given, the words that its phase touches are framed and named by lane,
// and the notes say how many times a bank must be read.
func Smem(l algebra.Layout, bits int, a *Access) (*Picture, error) {
	if err := l.Err(); err != nil {
		return nil, err
	}
	if bits < 1 || bits > 128 || bits&(bits-1) != 0 {
		return nil, fmt.Errorf("expects elements of 1, 2, 4, … 128 bits, but got %d", bits)
	}
	if !l.IsStatic() {
		return nil, fmt.Errorf("layout %s: banks need constant strides", l)
	}
	rows, cols, err := extents("layout", l.Shape())
	if err != nil {
		return nil, err
	}
	m := &memory{l: l, bits: int64(bits), rows: rows, cols: cols}
	if err := m.check(); err != nil {
		return nil, err
	}
	p := &Picture{title: l.String(), notes: []string{fmt.Sprintf("shared memory, elements of %s; number: bank", text.Count(bits, "bit"))}}
	g := m.grid()
	if a != nil {
		notes, err := m.mark(g, a)
		if err != nil {
			return nil, err
		}
		p.notes = append(p.notes, notes...)
	}
	p.grids = []*grid{g}
	return p, nil
}

// memory is a layout in shared memory.
type memory struct {
	l                algebra.Layout
	bits, rows, cols int64
}

// bit is the first bit of the element in a row and column.
func (m *memory) bit(row, col int64) int64 { return m.l.AtInt(row+m.rows*col) * m.bits }

func (m *memory) check() error {
	for i := range m.rows * m.cols {
		if v := m.l.AtInt(i); v < 0 || v > 1<<40 {
			return fmt.Errorf("layout %s has the offset %d, which lies outside of shared memory", m.l, v)
		}
	}
	return nil
}

// step is how many elements share each word, down and to the right.
func (m *memory) step() (down, right int64) {
	n := bankBits / m.bits
	if n <= 1 {
		return 1, 1
	}
	together := func(down, right int64) bool {
		for row := range m.rows {
			for col := range m.cols {
				first := m.bit(row/down*down, col/right*right) / bankBits
				if m.bit(row, col)/bankBits != first {
					return false
				}
			}
		}
		return true
	}
	switch {
	case m.cols%n == 0 && together(1, n):
		return 1, n
	case m.rows%n == 0 && together(n, 1):
		return n, 1
	}
	return 1, 1
}

func (m *memory) grid() *grid {
	down, right := m.step()
	g := newGrid("smem", m.rows/down, m.cols/right)
	g.rowStep, g.colStep = down, right
	if right > 1 || m.bits == bankBits {
		g.rule[1] = 128 / m.bits / right
	} else if down > 1 {
		g.rule[0] = 128 / m.bits / down
	}
	for i := range g.cells {
		row, col := int64(i)%g.rows*down, int64(i)/g.rows*right
		bit := m.bit(row, col)
		first := bit / bankBits % banks
		last := (bit + m.bits - 1) / bankBits % banks
		text := number(first)
		if last != first {
			text += "-" + number(last)
		}
		tip := fmt.Sprintf("(%d,%d): element %d, byte %d, bank %s", row, col, bit/m.bits, bit/8, text)
		g.cells[i] = cell{lines: []string{text}, class: bankClass(first), tip: tip}
	}
	return g
}

// bankClass has the hue of the 16-byte chunk and the tint of the bank in it.
func bankClass(bank int64) string { return "c" + number(bank/4+8*(bank%4)) }

// mark frames the words of one phase, and says what every phase costs.
func (m *memory) mark(g *grid, a *Access) ([]string, error) {
	ph, err := m.phases(a)
	if err != nil {
		return nil, err
	}
	if a.Phase < 0 || a.Phase >= len(ph) {
		return nil, fmt.Errorf("%s has phases 0 to %d, but phase %d is asked for", a.Copy.Row.Name, len(ph)-1, a.Phase)
	}
	for _, t := range ph[a.Phase].touched {
		c := &g.cells[t.row/g.rowStep+g.rows*(t.col/g.colStep)]
		name := "T" + number(t.lane+warpSize*int64(a.Warp))
		if c.mark == "" {
			c.mark, c.lines = name, append(c.lines, name)
		} else if c.mark != name {
			c.lines[1] = c.mark + "…"
		}
	}
	notes := []string{fmt.Sprintf("framed: phase %d of %s, warp %d, step %d", a.Phase, a.Copy.Row.Name, a.Warp, a.Step)}
	for i, p := range ph {
		cost := "no conflict"
		if p.ways > 1 {
			cost = fmt.Sprintf("%d-way conflict", p.ways)
		}
		notes = append(notes, fmt.Sprintf("phase %d, lanes %d to %d: %s in %s, %s", i, p.first, p.last, text.Count(p.words, "word"), text.Count(p.banks, "bank"), cost))
	}
	return notes, nil
}

// touch is an element that a lane accesses.
type touch struct{ row, col, lane int64 }

// phase is what the memory serves at a time.
type phase struct {
	first, last        int64 // lanes
	touched            []touch
	words, banks, ways int
}

// phases splits one instruction of a warp.
func (m *memory) phases(a *Access) ([]phase, error) {
	tv, tileRows, err := m.accessed(a)
	if err != nil {
		return nil, err
	}
	nt, _ := tv.Mode(0).IntSize()
	perStep, _ := a.Copy.Atom(a.Side).Mode(1).IntSize()
	lanes := min(warpSize, int64(banks*bankBits/max(a.Copy.Row.VectorBits, a.Copy.Elem.Bits())))
	served := map[touch]bool{}
	var out []phase
	for i := range (min(warpSize, nt) + lanes - 1) / lanes {
		p := phase{first: i * lanes, last: min((i+1)*lanes, nt) - 1}
		for lane := p.first; lane <= p.last; lane++ {
			for v := range perStep {
				at := tv.AtInt(lane + warpSize*int64(a.Warp) + nt*(v+perStep*int64(a.Step)))
				p.touched = append(p.touched, touch{at % tileRows, at / tileRows, lane})
			}
			if err := m.vectors(a, p.touched[len(p.touched)-int(perStep):]); err != nil {
				return nil, err
			}
		}
		if isMatrix(a.Copy) && repeats(served, p.touched) {
			continue // lanes whose addresses ldmatrix.x1 and .x2 do not look at
		}
		m.cost(&p)
		out = append(out, p)
	}
	return out, nil
}

// vectors refuses a lane's elements that are not the aligned, contiguous vectors that the instruction moves.
func (m *memory) vectors(a *Access, touched []touch) error {
	n := max(1, a.Copy.Row.VectorBits/a.Copy.Elem.Bits())
	for ; len(touched) >= n; touched = touched[n:] {
		first := m.bit(touched[0].row, touched[0].col)
		for i, t := range touched[:n] {
			bit := m.bit(t.row, t.col)
			if bit != first+int64(i)*m.bits {
				return fmt.Errorf("%s expects vectors of %d contiguous elements, but lane %d's element %d is at %d, and its first at %d, in %s",
					a.Copy.Row.Name, n, t.lane, i, bit/m.bits, first/m.bits, m.l)
			}
		}
		if t := touched[0]; first/m.bits%int64(n) != 0 {
			return fmt.Errorf("%s expects vectors to start at multiples of %d elements, but lane %d's starts at %d in %s",
				a.Copy.Row.Name, n, t.lane, first/m.bits, m.l)
		}
	}
	return nil
}

// repeats reports whether all elements were touched before, and adds them to those that were.
func repeats(served map[touch]bool, touched []touch) bool {
	all := true
	for _, t := range touched {
		t.lane = 0
		all = all && served[t]
		served[t] = true
	}
	return all
}

// accessed is the TV layout of the access, checked against the layout, and the rows of its tile.
func (m *memory) accessed(a *Access) (algebra.Layout, int64, error) {
	none := algebra.Layout{}
	if a.Copy == nil || a.Copy.Row == nil {
		return none, 0, fmt.Errorf("expects a tiled copy, but got none")
	}
	row := a.Copy.Row
	if space := [...]string{ir.Source: row.Src, ir.Destination: row.Dst}[a.Side]; space != "shared" && space != "any" {
		return none, 0, fmt.Errorf("the %s side of %s is in %s memory, not in shared", a.Side, row.Name, space)
	}
	if row.VectorBits < 1 || row.VectorBits > 128 {
		return none, 0, fmt.Errorf("%s moves %d bits at once: expected an access of a lane, 1 to 128 bits", row.Name, row.VectorBits)
	}
	if k := int64(a.Copy.Elem.Bits()); k != m.bits {
		return none, 0, fmt.Errorf("the copy moves elements of %d bits, but the layout is of elements of %d", k, m.bits)
	}
	rows, cols, err := extents("tile", a.Copy.TileShape)
	if err != nil {
		return none, 0, err
	}
	if rows > m.rows || cols > m.cols {
		return none, 0, fmt.Errorf("the copy's tile %s is larger than the layout %s", a.Copy.TileShape, m.l)
	}
	tv, err := a.Copy.SideTV(a.Side)
	if err != nil {
		return none, 0, err
	}
	nt, _ := tv.Mode(0).IntSize()
	nv, _ := tv.Mode(1).IntSize()
	perStep, _ := a.Copy.Atom(a.Side).Mode(1).IntSize()
	if w := (nt + warpSize - 1) / warpSize; a.Warp < 0 || int64(a.Warp) >= w {
		return none, 0, fmt.Errorf("the copy has %s, but warp %d is asked for", text.Count(w, "warp"), a.Warp)
	}
	if s := nv / perStep; a.Step < 0 || int64(a.Step) >= s {
		return none, 0, fmt.Errorf("the copy takes %s over its tile, but step %d is asked for", text.Count(s, "step"), a.Step)
	}
	return tv, rows, nil
}

// cost counts the words of a phase and those of the busiest bank.
func (m *memory) cost(p *phase) {
	seen, perBank := map[int64]bool{}, map[int64]int{}
	for _, t := range p.touched {
		bit := m.bit(t.row, t.col)
		for w := bit / bankBits; w <= (bit+m.bits-1)/bankBits; w++ {
			if !seen[w] {
				seen[w] = true
				perBank[w%banks]++
			}
		}
	}
	p.words, p.banks = len(seen), len(perBank)
	for _, n := range perBank {
		p.ways = max(p.ways, n)
	}
}
