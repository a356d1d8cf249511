package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Sizes in pixels.
const (
	left, right = 48, 16 // beside the bars
	barWidth    = 24
	plotHeight  = 200
	headHeight  = 62 // title and legend of a panel
	footHeight  = 34 // sizes below the bars
	charWidth   = 7  // of 11 px monospace, on the safe side
)

// series are the bars of one colour: a candidate's, or those of the best of our kernels at each size.
type series struct {
	name string
	bars map[size]row
}

// panel is a chart of one product on one kind of data.
type panel struct {
	title  string
	unit   string
	sizes  []size
	series []series
	ours   []string // the kernels that are one series
}

// own is the name of our series.
const own = "gocute"

// order is that of the series, after which others come by name.
var order = []string{own, "cuBLAS", "Triton", "torch"}

// panels groups rows by product and data, in the order in which they come.
func panels(rows []row) []*panel {
	var out []*panel
	at := map[string]*panel{}
	for _, r := range rows {
		title := fmt.Sprintf("%s, %s, %s data, %s", strings.Replace(r.types, "-", " to ", 1), r.layout, r.data, r.device)
		p := at[title]
		if p == nil {
			p = &panel{title: title, unit: "TFLOP/s"}
			if strings.HasPrefix(r.types, "s8") {
				p.unit = "TOP/s"
			}
			at[title], out = p, append(out, p)
		}
		p.add(r)
	}
	for _, p := range out {
		slices.SortStableFunc(p.series, func(a, b series) int {
			return cmp.Or(cmp.Compare(rank(a.name), rank(b.name)), cmp.Compare(a.name, b.name))
		})
	}
	return out
}

func rank(name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

func (p *panel) add(r row) {
	if !slices.Contains(p.sizes, r.size) {
		p.sizes = append(p.sizes, r.size)
	}
	name := r.candidate
	if strings.HasPrefix(name, prefix) {
		name = own
		if !slices.Contains(p.ours, r.candidate) {
			p.ours = append(p.ours, r.candidate)
		}
	}
	i := slices.IndexFunc(p.series, func(s series) bool { return s.name == name })
	if i < 0 {
		i = len(p.series)
		p.series = append(p.series, series{name, map[size]row{}})
	}
	if old, ok := p.series[i].bars[r.size]; !ok || r.tflops > old.tflops {
		p.series[i].bars[r.size] = r
	}
}

// groupWidth is that of one size's bars, or of its name.
func (p *panel) groupWidth() int {
	w := barWidth*len(p.series) + 20
	for _, s := range p.sizes {
		w = max(w, charWidth*len(s.String())+12)
	}
	return w
}

func (p *panel) width() int {
	return left + right + max(p.groupWidth()*len(p.sizes), charWidth*len(p.title)+20)
}

// top is the end of the axis and the step of its lines: 1, 2 or 5 times a power of ten, four to ten of them.
func (p *panel) top() (end, step float64) {
	for _, s := range p.series {
		for _, r := range s.bars {
			end = max(end, r.tflops)
			if r.p10 > 0 {
				end = max(end, r.flops()/r.p10/1e6)
			}
		}
	}
	if end == 0 {
		return 1, 1
	}
	step = math.Pow(10, math.Floor(math.Log10(end)))
	for _, f := range []float64{0.1, 0.2, 0.5, 1} {
		if end/(step*f) <= 8 {
			step *= f
			break
		}
	}
	return step * math.Ceil(1.04*end/step), step
}

// style is light, and dark where the reader prefers it. The hues are Okabe and Ito's, which people with any of the usual
// colour blindnesses tell apart, and stand out from both grounds.
const style = `<style>
.b text{font:11px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#111}
.b .t{font-size:13px;font-weight:bold}.b .v{font-size:9px;text-anchor:middle}.b .x{text-anchor:middle}.b .y{text-anchor:end}
.b .g{fill:#fff}.b line{stroke:#d8d8d8}.b .e{stroke:#111}
.b .s0{fill:#1f83c4}.b .s1{fill:#e69f00}.b .s2{fill:#12a67c}.b .s3{fill:#cc79a7}.b .s4{fill:#8a8a8a}
@media (prefers-color-scheme:dark){.b text{fill:#f2f2f2}.b .g{fill:#16181d}.b line{stroke:#3a3f48}.b .e{stroke:#f2f2f2}}
</style>
`

// colour is the class of a series: those that are not known share one.
func colour(name string) string { return fmt.Sprintf("s%d", rank(name)) }

// chart draws the rows as bars of TFLOP/s, a panel for each product and data, with lines from the 10th to the 90th
// percentile.
func chart(rows []row) []byte {
	list := panels(rows)
	width, height := 2*left, 0
	for _, p := range list {
		width = max(width, p.width())
		height += headHeight + plotHeight + footHeight
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="b" role="img" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>Matrix products</title>\n%s", style)
	fmt.Fprintf(&b, `<rect class="g" width="%d" height="%d"/>`+"\n", width, height)
	for i, p := range list {
		p.draw(&b, i*(headHeight+plotHeight+footHeight), width)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func (p *panel) draw(b *strings.Builder, y, width int) {
	fmt.Fprintf(b, `<text class="t" x="%d" y="%d">%s</text>`+"\n", left, y+20, html.EscapeString(p.title))
	x := left
	for _, s := range p.series {
		name := s.name
		if s.name == own && len(p.ours) > 1 {
			name += fmt.Sprintf(" (best of %d)", len(p.ours))
		}
		fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="11" height="11"/><text x="%d" y="%d">%s</text>`+"\n",
			colour(s.name), x, y+31, x+16, y+41, html.EscapeString(name))
		x += 16 + charWidth*len(name) + 18
	}
	base := y + headHeight + plotHeight
	end, step := p.top()
	high := func(v float64) float64 { return math.Round(10*(float64(base)-plotHeight*v/end)) / 10 }
	for i := 0; float64(i)*step <= end*1.001; i++ {
		v := float64(i) * step
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%g" y2="%[3]g"/><text class="y" x="%[4]d" y="%[5]g">%[6]g</text>`+"\n",
			left, width-right, high(v), left-6, high(v)+4, math.Round(v*1e6)/1e6)
	}
	fmt.Fprintf(b, `<text class="y" x="%d" y="%d">%s</text>`+"\n", width-right, y+20, p.unit+" by M×N×K")
	group := p.groupWidth()
	for i, s := range p.sizes {
		middle := left + i*group + group/2
		fmt.Fprintf(b, `<text class="x" x="%d" y="%d">%s</text>`+"\n", middle, base+18, strings.ReplaceAll(s.String(), "x", "×"))
		for j, c := range p.series {
			if r, ok := c.bars[s]; ok {
				r.bar(b, colour(c.name), middle-barWidth*len(p.series)/2+j*barWidth, base, high)
			}
		}
	}
}

// bar draws a row, its number above it, and how far its times spread.
func (r *row) bar(b *strings.Builder, class string, x, base int, high func(float64) float64) {
	at, middle := high(r.tflops), float64(x)+float64(barWidth-2)/2
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%g" width="%d" height="%g"><title>%s</title></rect>`+"\n", class, x, at, barWidth-2,
		math.Round(10*(float64(base)-at))/10, html.EscapeString(fmt.Sprintf("%s, %s: %.1f, %.1f µs", r.candidate, r.size, r.tflops, r.median)))
	least, most := at, at
	if r.p10 > 0 && r.p90 > 0 {
		least, most = high(r.flops()/r.p90/1e6), high(r.flops()/r.p10/1e6)
		fmt.Fprintf(b, `<line class="e" x1="%g" x2="%[1]g" y1="%g" y2="%g"/>`+"\n", middle, least, most)
	}
	fmt.Fprintf(b, `<text class="v" x="%g" y="%g">%.*f</text>`+"\n", middle, min(at, most)-4, digits(r.tflops), r.tflops)
}

// digits after the point, so that a bar's number has no more than three characters or so.
func digits(v float64) int {
	if v < 10 {
		return 1
	}
	return 0
}
