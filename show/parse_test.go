package show_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// at is a row and a column.
type at struct{ row, col int64 }

// svgCell is a cell as a reader of the picture sees it.
type svgCell struct {
	class, tip string
	lines      []string
}

// element is any element of the picture.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e element) int(t *testing.T, name string) int64 {
	n, err := strconv.ParseInt(e.attr(name), 10, 64)
	require.NoError(t, err, "%s of %s", name, e.XMLName.Local)
	return n
}

// document parses a picture as XML, to its end.
func document(t *testing.T, svg []byte) element {
	t.Helper()
	var root element
	d := xml.NewDecoder(bytes.NewReader(svg))
	require.NoError(t, d.Decode(&root))
	_, err := d.Token()
	for err == nil {
		_, err = d.Token()
	}
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, "svg", root.XMLName.Local)
	require.Equal(t, "http://www.w3.org/2000/svg", root.XMLName.Space)
	return root
}

// parse reads the cells of every grid by where they stand, and checks that all text lies inside its cell and the
// picture.
func parse(t *testing.T, svg []byte) map[string]map[at]svgCell {
	t.Helper()
	root := document(t, svg)
	width, height := root.int(t, "width"), root.int(t, "height")
	out := map[string]map[at]svgCell{}
	for _, g := range root.Children {
		switch {
		case g.XMLName.Local == "text":
			require.LessOrEqual(t, g.int(t, "y"), height)
			if g.attr("class") == "" || g.attr("class") == "q" {
				require.LessOrEqual(t, g.int(t, "x")+int64(len([]rune(g.Text)))*7, width+5, g.Text)
			}
		case g.XMLName.Local == "g":
			out[g.attr("id")] = cells(t, g)
			x, y := translation(t, g)
			for _, c := range g.Children {
				if c.XMLName.Local == "g" {
					r := c.Children[1]
					require.LessOrEqual(t, x+r.int(t, "x")+r.int(t, "width"), width)
					require.LessOrEqual(t, y+r.int(t, "y")+r.int(t, "height"), height)
				}
			}
		}
	}
	return out
}

func translation(t *testing.T, g element) (x, y int64) {
	t.Helper()
	a, b, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(g.attr("transform"), "translate("), ")"), ",")
	require.True(t, ok)
	x, err := strconv.ParseInt(a, 10, 64)
	require.NoError(t, err)
	y, err = strconv.ParseInt(b, 10, 64)
	require.NoError(t, err)
	return x, y
}

// origins is where the grids begin.
func origins(t *testing.T, svg []byte) map[string]at {
	t.Helper()
	out := map[string]at{}
	for _, g := range document(t, svg).Children {
		if g.XMLName.Local == "g" {
			x, y := translation(t, g)
			out[g.attr("id")] = at{y, x}
		}
	}
	return out
}

// cells reads a grid; the place of a cell follows from the place of its rectangle.
func cells(t *testing.T, g element) map[at]svgCell {
	t.Helper()
	out := map[at]svgCell{}
	for _, c := range g.Children {
		if c.XMLName.Local != "g" {
			continue
		}
		cell := svgCell{class: c.attr("class")}
		var x, y, w, h int64
		for _, e := range c.Children {
			switch e.XMLName.Local {
			case "title":
				cell.tip = e.Text
			case "rect":
				x, y, w, h = e.int(t, "x"), e.int(t, "y"), e.int(t, "width"), e.int(t, "height")
				require.Zero(t, x%w)
				require.Zero(t, y%h)
			case "text":
				cell.lines = append(cell.lines, e.Text)
				require.Equal(t, x+w/2, e.int(t, "x"))
				require.LessOrEqual(t, int64(len([]rune(e.Text)))*670, w*100, "%q is wider than its cell", e.Text)
				require.Greater(t, e.int(t, "y"), y+8)
				require.Less(t, e.int(t, "y"), y+h)
			}
		}
		p := at{y / h, x / w}
		_, twice := out[p]
		require.False(t, twice, "two cells at %v", p)
		out[p] = cell
	}
	return out
}
