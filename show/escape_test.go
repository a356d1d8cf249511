package show_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/show"
)

// named is a picture of an atom of any name.
func named(t *testing.T, name string) *show.Picture {
	t.Helper()
	row, ok := atoms.FindMMA(hmma)
	require.True(t, ok)
	r := *row
	r.Name = name
	p, err := show.MMA(&r)
	require.NoError(t, err)
	return p
}

// elements counts the elements of an XML text by name, without the lines of the title, which depend on its length.
func elements(t *testing.T, svg []byte) map[string]int {
	t.Helper()
	out, d := map[string]int{}, xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			delete(out, "text")
			return out
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			out[e.Name.Local]++
			for _, a := range e.Attr {
				require.NotContains(t, a.Name.Local, "on")
			}
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"x", "</title><script>alert(1)</script>", "]]>", "<!--", "&amp;&#0;", "\x00\x1b[2J", "\xff", "\u202e\ufffe", `" onload="x`, `<g id="`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if len(name) > 1000 {
			return
		}
		p := named(t, name)
		require.Equal(t, elements(t, named(t, "x").SVG()), elements(t, p.SVG()))
		page := string(show.Page(name, p))
		require.Equal(t, strings.Count(string(show.Page("x", named(t, "x"))), "<"), strings.Count(page, "<")-2*(strings.Count(page, "<text")-strings.Count(string(show.Page("x", named(t, "x"))), "<text")))
		require.NotRegexp(t, "[\x00-\x08\x0b-\x1f]", page)
	})
}
