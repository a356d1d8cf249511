package golaunch

import (
	"fmt"
	"go/build/constraint"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/gocute/gocute/gen/cir"
)

// packageDoc shows the kernel's signature: the launch and one line for each argument.
func (p *file) packageDoc() []string {
	text := fmt.Sprintf("Package %s launches the CUDA kernel %s.\n", p.pkg, p.k.Name)
	for i, l := range p.k.Doc {
		if i == 0 {
			text += "\n"
		}
		for part := range strings.Lines(l + "\n") {
			text += oneLine(part) + "\n"
		}
	}
	text += "\n\t" + p.signature() + "\n\n" + p.table()
	if rs := p.k.Requires; len(rs) > 0 {
		text += "\nLaunch refuses arguments that break a rule:\n\n"
		for _, r := range rs {
			text += "  - " + oneLine(r.Message) + "\n"
		}
	}
	var out []string
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n ")
		if l == "" || l[0] == '\t' {
			out = append(out, "//"+l)
		} else {
			out = append(out, "// "+l)
		}
	}
	return out
}

// oneLine is a user's text as a line of a comment. All that Go source cannot hold, or that could end the line for some
// reader, becomes a space: control characters, byte order marks, and bytes that are not UTF-8.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r == '\ufeff' || !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, text)
	text = strings.TrimSpace(text)
	if constraint.IsPlusBuild("// " + text) { // gofmt would make it a build constraint
		text = "+ " + text[1:]
	}
	return text
}

// signature is the launch as CUDA writes it.
func (p *file) signature() string {
	grid := p.grid[:]
	for len(grid) > 1 && grid[len(grid)-1].Is(1) {
		grid = grid[:len(grid)-1]
	}
	var xyz, names []string
	for _, e := range grid {
		xyz = append(xyz, e.String())
	}
	for _, q := range p.k.Params {
		names = append(names, q.Name)
	}
	for _, m := range p.k.Maps {
		names = append(names, m.Name)
	}
	at := strings.Join(xyz, ", ")
	if len(xyz) > 1 {
		at = "(" + at + ")"
	}
	shared := ""
	if p.k.SmemBytes > 0 {
		shared = fmt.Sprintf(", %d", p.k.SmemBytes)
	}
	return fmt.Sprintf("%s<<<%s, %d%s>>>(%s)", p.k.Name, at, p.k.Threads, shared, strings.Join(names, ", "))
}

// table lists the arguments, one a line.
func (p *file) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, q := range p.k.Params {
		typ := "int"
		if q.Class != cir.Dim {
			typ = q.Elem.String()
		}
		if q.Class == cir.Pointer {
			typ += "*"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", q.Name, typ, p.paramDoc(q)) // a Builder takes everything
	}
	for _, m := range p.k.Maps {
		_, _ = fmt.Fprintf(w, "%s\tTensorMap\t%s\n", m.Name, mapDoc(m))
	}
	_ = w.Flush()
	var out strings.Builder
	for l := range strings.Lines(b.String()) {
		out.WriteString("\t" + strings.TrimRight(l, " \n") + "\n")
	}
	return out.String()
}
