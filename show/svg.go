package show

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sizes in pixels.
const (
	titleFont = 14
	noteFont  = 11
	cellFont  = 11
	noteLine  = 16
	cellLine  = 13
	margin    = 14
	gap       = 22 // between grids
	minCell   = 24
	minText   = 460 // how wide notes may be at least
)

// textWidth is how wide a text of one-width characters is, on the safe side.
func textWidth(s string, font int) int { return (utf8.RuneCountInString(s)*font*61 + 99) / 100 }

// frame is where the parts of a picture stand.
type frame struct {
	cellW, cellH  int
	headW         int   // the row numbers
	headLines     []int // lines above the grids of each row
	x, y          []int // the grids' corners, by column and row
	width, height int
	title, notes  []string
}

// SVG prints the picture.
func (p *Picture) SVG() []byte {
	var b strings.Builder
	b.WriteString(p.svg(`<style>` + "\n" + styleSheet() + `</style>` + "\n"))
	return []byte(b.String())
}

// svg is the picture with the style given, or with that of the page around it.
func (p *Picture) svg(style string) string {
	f := p.measure()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="gc" role="img" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n",
		f.width, f.height, f.width, f.height)
	fmt.Fprintf(&b, "<title>%s</title>\n%s", escape(p.title), style)
	fmt.Fprintf(&b, `<rect class="g" width="%d" height="%d"/>`+"\n", f.width, f.height)
	y := margin
	for _, s := range f.title {
		y += noteLine + 2
		fmt.Fprintf(&b, `<text class="t" x="%d" y="%d">%s</text>`+"\n", margin, y-4, escape(s))
	}
	for _, s := range f.notes {
		y += noteLine
		fmt.Fprintf(&b, `<text class="q" x="%d" y="%d">%s</text>`+"\n", margin, y-4, escape(s))
	}
	for _, g := range p.grids {
		g.write(&b, f)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// measure places everything.
func (p *Picture) measure() *frame {
	f := &frame{cellW: minCell, headW: textWidth("0", noteFont)}
	nx, ny := 0, 0
	for _, g := range p.grids {
		nx, ny = max(nx, g.col+1), max(ny, g.row+1)
		f.headW = max(f.headW, textWidth(number((g.rows-1)*g.rowStep), noteFont), textWidth(g.corner, noteFont))
		for _, c := range g.cells {
			f.cellH = max(f.cellH, len(c.lines)*cellLine+8)
			for _, s := range c.lines {
				f.cellW = max(f.cellW, textWidth(s, cellFont)+8)
			}
		}
		f.cellW = max(f.cellW, textWidth(number((g.cols-1)*g.colStep), noteFont)+4)
	}
	f.headW += 6
	widths, heights := make([]int, nx), make([]int, ny)
	f.headLines = make([]int, ny)
	for _, g := range p.grids {
		f.headLines[g.row] = max(f.headLines[g.row], len(g.head))
		w := f.headW + int(g.cols)*f.cellW
		for _, s := range g.head {
			w = max(w, f.headW+textWidth(s, noteFont))
		}
		widths[g.col] = max(widths[g.col], w)
		heights[g.row] = max(heights[g.row], int(g.rows)*f.cellH)
	}
	f.place(p, widths, heights)
	return f
}

// place turns the sizes of columns and rows into positions, below the title and the notes.
func (f *frame) place(p *Picture, widths, heights []int) {
	x := margin
	for _, w := range widths {
		f.x = append(f.x, x)
		x += w + gap
	}
	f.width = x - gap
	room := max(f.width-margin, minText)
	f.title = wrap(p.title, room*100/(titleFont*61))
	for _, n := range p.notes {
		f.notes = append(f.notes, wrap(n, room*100/(noteFont*61))...)
	}
	for _, s := range f.title {
		f.width = max(f.width, margin+textWidth(s, titleFont))
	}
	for _, s := range f.notes {
		f.width = max(f.width, margin+textWidth(s, noteFont))
	}
	y := margin + len(f.title)*(noteLine+2) + len(f.notes)*noteLine + 8
	for i, h := range heights {
		y += (f.headLines[i] + 1) * noteLine
		f.y = append(f.y, y)
		y += h + gap
	}
	f.width += margin
	f.height = y - gap + margin
}

// wrap breaks a text at spaces; a word that is longer than a line stays whole.
func wrap(s string, n int) (lines []string) {
	line := ""
	for _, w := range strings.Fields(s) {
		if line != "" && utf8.RuneCountInString(line+" "+w) > n {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+w, " ")
	}
	return append(lines, line)
}

// write prints a grid with its head and numbers.
func (g *grid) write(b *strings.Builder, f *frame) {
	x, y := f.x[g.col], f.y[g.row]
	left := x + f.headW
	for i, s := range g.head {
		fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", left, y-(len(g.head)-i)*noteLine-4, escape(s))
	}
	if g.corner != "" {
		fmt.Fprintf(b, `<text class="v q" x="%d" y="%d">%s</text>`+"\n", left-4, y-5, escape(g.corner))
	}
	for j := range g.cols {
		fmt.Fprintf(b, `<text class="h q" x="%d" y="%d">%d</text>`+"\n", left+int(j)*f.cellW+f.cellW/2, y-5, j*g.colStep)
	}
	for i := range g.rows {
		fmt.Fprintf(b, `<text class="v q" x="%d" y="%d">%d</text>`+"\n", left-4, y+int(i)*f.cellH+f.cellH/2+4, i*g.rowStep)
	}
	fmt.Fprintf(b, `<g id="%s" transform="translate(%d,%d)">`+"\n", escape(g.name), left, y)
	for i := range g.cells {
		g.writeCell(b, f, int64(i))
	}
	g.writeRules(b, f)
	g.writeFrames(b, f)
	b.WriteString("</g>\n")
}

func (g *grid) writeCell(b *strings.Builder, f *frame, i int64) {
	c := g.cells[i]
	x, y := int(i/g.rows)*f.cellW, int(i%g.rows)*f.cellH
	class := c.class
	if c.mark != "" {
		class += " m"
	}
	fmt.Fprintf(b, `<g class="%s"><title>%s</title><rect x="%d" y="%d" width="%d" height="%d"/>`, class, escape(c.tip), x, y, f.cellW, f.cellH)
	top := y + (f.cellH-len(c.lines)*cellLine)/2
	for k, s := range c.lines {
		fmt.Fprintf(b, `<text class="%s" x="%d" y="%d">%s</text>`, [2]string{"a", "b"}[min(k, 1)], x+f.cellW/2, top+k*cellLine+10, escape(s))
	}
	b.WriteString("</g>\n")
}

// writeRules prints the lines that part blocks, and one around all.
func (g *grid) writeRules(b *strings.Builder, f *frame) {
	w, h := int(g.cols)*f.cellW, int(g.rows)*f.cellH
	fmt.Fprintf(b, `<path class="l" d="M0 0h%dv%dh%dz`, w, h, -w)
	if d := g.rule[0]; d > 0 {
		for i := d; i < g.rows; i += d {
			fmt.Fprintf(b, "M0 %dh%d", int(i)*f.cellH, w)
		}
	}
	if d := g.rule[1]; d > 0 {
		for j := d; j < g.cols; j += d {
			fmt.Fprintf(b, "M%d 0v%d", int(j)*f.cellW, h)
		}
	}
	b.WriteString(`"/>` + "\n")
}

// writeFrames prints the frames around marked cells.
func (g *grid) writeFrames(b *strings.Builder, f *frame) {
	mark := func(row, col int64) string {
		if row < 0 || row >= g.rows || col < 0 || col >= g.cols {
			return ""
		}
		return g.cells[row+g.rows*col].mark
	}
	var path strings.Builder
	for i, c := range g.cells {
		if c.mark == "" {
			continue
		}
		row, col := int64(i)%g.rows, int64(i)/g.rows
		x, y := int(col)*f.cellW, int(row)*f.cellH
		for _, e := range []struct {
			row, col  int64 // the neighbour
			x, y      int   // where the edge begins
			direction byte
			length    int
		}{
			{row - 1, col, x, y, 'h', f.cellW}, {row + 1, col, x, y + f.cellH, 'h', f.cellW},
			{row, col - 1, x, y, 'v', f.cellH}, {row, col + 1, x + f.cellW, y, 'v', f.cellH},
		} {
			if mark(e.row, e.col) != c.mark {
				fmt.Fprintf(&path, "M%d %d%c%d", e.x, e.y, e.direction, e.length)
			}
		}
	}
	if path.Len() > 0 {
		fmt.Fprintf(b, `<path class="f" d="%s"/>`+"\n", path.String())
	}
}
