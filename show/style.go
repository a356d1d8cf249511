package show

import (
	"fmt"
	"strings"
)

// rgb is a colour.
type rgb [3]int

// mix is the colour at so many percent of the way from b to a.
func mix(a, b rgb, percent int) (out rgb) {
	for i := range out {
		out[i] = (a[i]*percent + b[i]*(100-percent) + 50) / 100
	}
	return out
}

func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// scheme is the colours of light or of dark.
type scheme struct {
	ground, text, quiet rgb
	line, frame         rgb
	fills               [threadColors]rgb
	ramp                [rampSteps]rgb
	plain               rgb
}

// hues are Okabe and Ito's colours, which people with any of the usual colour blindnesses tell apart, with a grey that
// stands out from the ground in the place of black.
func hues(grey rgb) [8]rgb {
	return [8]rgb{
		{0x56, 0xb4, 0xe9}, // sky blue
		{0xd5, 0x5e, 0x00}, // vermilion
		{0x00, 0x9e, 0x73}, // bluish green
		{0xf0, 0xe4, 0x42}, // yellow
		{0x00, 0x72, 0xb2}, // blue
		{0xe6, 0x9f, 0x00}, // orange
		grey,
		{0xcc, 0x79, 0xa7}, // reddish purple
	}
}

func light() scheme {
	s := scheme{
		ground: rgb{255, 255, 255}, text: rgb{0, 0, 0}, quiet: rgb{0x4a, 0x4a, 0x4a},
		line: rgb{0x22, 0x22, 0x22}, frame: rgb{0, 0, 0}, plain: rgb{0xf2, 0xf2, 0xf2},
	}
	s.fill(rgb{0x48, 0x48, 0x48}, [4]int{70, 52, 36, 22}, rgb{0xf7, 0xfb, 0xff}, rgb{0x6b, 0xae, 0xd6})
	return s
}

func dark() scheme {
	s := scheme{
		ground: rgb{0x16, 0x18, 0x1d}, text: rgb{0xff, 0xff, 0xff}, quiet: rgb{0xc4, 0xc8, 0xce},
		line: rgb{0xe6, 0xe6, 0xe6}, frame: rgb{255, 255, 255}, plain: rgb{0x26, 0x29, 0x30},
	}
	s.fill(rgb{0xd0, 0xd0, 0xd0}, [4]int{47, 37, 28, 19}, rgb{0x22, 0x26, 0x2e}, rgb{0x1f, 0x6f, 0xb0})
	return s
}

// fill derives the tints of every hue, and the ramp between two colours.
func (s *scheme) fill(grey rgb, tints [4]int, from, to rgb) {
	for h, hue := range hues(grey) {
		for t, percent := range tints {
			s.fills[h+8*t] = mix(hue, s.ground, percent)
		}
	}
	for i := range s.ramp {
		s.ramp[i] = mix(to, from, 100*i/(rampSteps-1))
	}
}

// fonts of one width, so that text can be measured without them.
const fonts = `ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,"Liberation Mono",monospace`

// styleSheet is the CSS of all pictures: light, and dark where the reader prefers it.
func styleSheet() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".gc text{font:%dpx %s}\n.gc .t{font-size:%dpx;font-weight:bold}\n.gc .a,.gc .b{font-size:%dpx;text-anchor:middle}\n.gc .h{text-anchor:middle}\n.gc .v{text-anchor:end}\n",
		noteFont, fonts, titleFont, cellFont)
	b.WriteString(".gc .l{fill:none;stroke-width:1.5}\n.gc .f{fill:none;stroke-width:3;stroke-linecap:square}\n.gc .m .b{font-weight:bold}\n")
	writeScheme(&b, light())
	b.WriteString("@media (prefers-color-scheme:dark){\n")
	writeScheme(&b, dark())
	b.WriteString("}\n")
	return b.String()
}

func writeScheme(b *strings.Builder, s scheme) {
	fmt.Fprintf(b, ".gc .g{fill:%s}\n.gc text{fill:%s}\n.gc .q{fill:%s}\n.gc rect{stroke:%s}\n.gc .l{stroke:%s}\n.gc .f{stroke:%s}\n.gc .n rect{fill:%s}\n",
		s.ground, s.text, s.quiet, s.ground, s.line, s.frame, s.plain)
	for i, c := range s.fills {
		fmt.Fprintf(b, ".gc .c%d rect{fill:%s}\n", i, c)
	}
	for i, c := range s.ramp {
		fmt.Fprintf(b, ".gc .r%d rect{fill:%s}\n", i, c)
	}
}
