package show_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/show"
)

// fills are the colours that the CSS of a picture gives to rectangles and text, by class, in one scheme.
func fills(t *testing.T) (light, dark map[string][3]float64) {
	t.Helper()
	p, err := show.Layout(algebra.MustParse("(4,8):(8,1)"))
	require.NoError(t, err)
	css, _, _ := strings.Cut(string(p.SVG()), "</style>")
	a, b, ok := strings.Cut(css, "@media (prefers-color-scheme:dark)")
	require.True(t, ok)
	read := func(s string) map[string][3]float64 {
		out := map[string][3]float64{}
		for _, m := range regexp.MustCompile(`\.gc ([.\w ]+)\{fill:#(\w{6})\}`).FindAllStringSubmatch(s, -1) {
			var c [3]float64
			for i := range c {
				v, err := strconv.ParseUint(m[2][2*i:2*i+2], 16, 8)
				require.NoError(t, err)
				c[i] = linear(float64(v) / 255)
			}
			out[m[1]] = c
		}
		return out
	}
	return read(a), read(b)
}

func linear(c float64) float64 {
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}

func luminance(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// contrast is WCAG's ratio.
func contrast(a, b [3]float64) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast asks for WCAG's 4.5 between all text and what is below it, in both schemes.
func TestContrast(t *testing.T) {
	light, dark := fills(t)
	for name, s := range map[string]map[string][3]float64{"light": light, "dark": dark} {
		require.Len(t, s, 3+1+32+16, name)
		for class, c := range s {
			if strings.HasSuffix(class, " rect") || class == ".g" {
				require.GreaterOrEqual(t, contrast(c, s["text"]), 4.5, "%s: text on %s", name, class)
			}
		}
		require.GreaterOrEqual(t, contrast(s[".g"], s[".q"]), 4.5, name)
	}
}

// vision is how a colour looks to people with a colour blindness (Machado and others, 2009, severity 1).
var vision = map[string][3][3]float64{
	"all cones":    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab is CIE L*a*b* of a linear colour.
func lab(c [3]float64) [3]float64 {
	f := func(t float64) float64 {
		if t > 0.008856 {
			return math.Cbrt(t)
		}
		return 7.787*t + 16.0/116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.9505)
	y := f(luminance(c))
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// TestColorBlind asks for a distance between the hues of one tint in every vision: what a just
// noticeable difference is (2.3) for all tints, and far more for the strongest.
func TestColorBlind(t *testing.T) {
	light, dark := fills(t)
	for name, s := range map[string]map[string][3]float64{"light": light, "dark": dark} {
		for kind, m := range vision {
			for tint := range 4 {
				least := math.Inf(1)
				var seen [][3]float64
				for hue := range 8 {
					c := s[".c"+strconv.Itoa(hue+8*tint)+" rect"]
					var v [3]float64
					for i, row := range m {
						v[i] = min(1, max(0, row[0]*c[0]+row[1]*c[1]+row[2]*c[2]))
					}
					p := lab(v)
					for _, q := range seen {
						least = min(least, math.Sqrt((p[0]-q[0])*(p[0]-q[0])+(p[1]-q[1])*(p[1]-q[1])+(p[2]-q[2])*(p[2]-q[2])))
					}
					seen = append(seen, p)
				}
				want := 2.3
				if tint == 0 {
					want = 8
				}
				require.Greater(t, least, want, "%s, %s, tint %d", name, kind, tint)
			}
		}
	}
}

// TestPage checks that a page has all pictures, one style, and no name twice.
func TestPage(t *testing.T) {
	p, err := show.Layout(algebra.MustParse("(2,2):(1,2)"))
	require.NoError(t, err)
	page := string(show.Page("a <page>", p, p))
	require.Contains(t, page, "<title>a &lt;page&gt;</title>")
	require.Equal(t, 2, strings.Count(page, "<svg "))
	require.Equal(t, 1, strings.Count(page, "<style>"))
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		require.False(t, ids[m[1]], m[1])
		ids[m[1]] = true
	}
	require.Len(t, ids, 4)
	for _, svg := range regexp.MustCompile(`(?s)<svg .*?</svg>`).FindAllString(page, -1) {
		document(t, []byte(svg))
	}
}
