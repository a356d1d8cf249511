package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/show"
)

// showCmd is gocute show.
type showCmd struct {
	Layout   showLayoutCmd   `cmd:"" help:"A layout: what it yields at every coordinate."`
	TV       showTVCmd       `cmd:"" name:"tv" help:"A TV layout over a tile: thread and value of every element."`
	MMA      showMMACmd      `cmd:"" name:"mma" help:"The operands of an MMA atom: B above, A on the left, C between them."`
	TiledMMA showTiledMMACmd `cmd:"" name:"tiled-mma" help:"The operands of an MMA atom that is repeated over warps."`
	Copy     showCopyCmd     `cmd:"" help:"Both sides of a tiled copy."`
	Smem     showSmemCmd     `cmd:"" help:"A layout in shared memory, coloured by bank."`
	Page     showPageCmd     `cmd:"" help:"One HTML page with the picture of every gocute show command in a text file."`
}

// Help is shown by --help.
func (showCmd) Help() string {
	return `Pictures are SVG, in light and dark, on standard output or in the file of -o; a name that ends in .html makes a page.

Examples:

  gocute show layout '((4,8),(2,2)):((32,1),(16,8))'
  gocute show tv '((8,4),4):((16,1),4)' 4,32 -o tv.svg
  gocute show mma SM80_16x8x16_F32F16F16F32_TN
  gocute show tiled-mma SM80_16x8x16_F32F16F16F32_TN --warps 2,2 --tile 32,32,16
  gocute show copy 'UniversalCopy<u128>' --elem f32 --thr '(4,8):(8,1)' --val '(1,4):(4,1)'
  gocute show copy SM75_U32x2_LDSM_N --elem f16 --mma SM80_16x8x16_F32F16F16F32_TN --operand A
  gocute show smem 'Sw<3,3,3> o 0 o (8,64):(64,1)' --elem f16
  gocute show page docs/pictures.md -o pictures.html`
}

// showOut is where a picture goes.
type showOut struct {
	Out  filePath `short:"o" placeholder:"FILE" help:"Write this file, .svg or .html, instead of standard output."`
	HTML bool     `name:"html" help:"Print an HTML page instead of SVG."`
}

// picturer is a command that draws.
type picturer interface{ picture() (*show.Picture, error) }

// print draws a picture and writes it as asked for.
func (o *showOut) print(s *session, c picturer) error {
	html, err := o.html()
	if err == nil && o.Out != "" {
		err = s.fileToWrite("-o", string(o.Out))
	}
	if err != nil {
		return err
	}
	p, err := c.picture()
	if e := (exitError{}); errors.As(err, &e) {
		return e
	}
	if err != nil {
		return errors.New(refusal(err))
	}
	if html {
		return o.write(s, show.Page(p.Title(), p))
	}
	return o.write(s, p.SVG())
}

// html reports whether a page is asked for.
func (o *showOut) html() (bool, error) {
	switch ext := strings.ToLower(filepath.Ext(string(o.Out))); {
	case o.Out == "" || ext == ".svg" && !o.HTML:
		return o.HTML, nil
	case ext == ".html" || ext == ".htm":
		return true, nil
	case o.HTML:
		return false, exitError{fmt.Errorf("-o %s: the name of a page ends in .html", o.Out), 2}
	}
	return false, exitError{fmt.Errorf("-o %s: the name of a picture ends in .svg, that of a page in .html", o.Out), 2}
}

func (o *showOut) write(s *session, data []byte) error {
	if o.Out == "" {
		_, err := s.stdout.Write(data)
		return err
	}
	return s.writeFile("-o", string(o.Out), data)
}

// showLayoutCmd is gocute show layout.
type showLayoutCmd struct {
	Layout string `arg:"" name:"LAYOUT" help:"A layout of rank 1 or 2, or an expression of gocute eval."`
	showOut
}

func (c *showLayoutCmd) picture() (*show.Picture, error) {
	l, err := layoutOf("LAYOUT", c.Layout)
	if err != nil {
		return nil, err
	}
	return show.Layout(l)
}

// Run draws the layout.
func (c *showLayoutCmd) Run(s *session) error { return c.print(s, c) }

// showTVCmd is gocute show tv.
type showTVCmd struct {
	Layout string `arg:"" name:"TV" help:"The layout, (thread,value) to the index in the tile with the first mode first."`
	Tile   string `arg:"" name:"TILE" help:"The tile's extents, such as 4,32."`
	showOut
}

func (c *showTVCmd) picture() (*show.Picture, error) {
	tv, err := layoutOf("TV", c.Layout)
	if err != nil {
		return nil, err
	}
	tile, err := shapeArg("TILE", c.Tile)
	if err != nil {
		return nil, err
	}
	return show.TV(tv, tile)
}

// Run draws the layout.
func (c *showTVCmd) Run(s *session) error { return c.print(s, c) }

// showMMACmd is gocute show mma.
type showMMACmd struct {
	Atom string `arg:"" name:"ATOM" help:"The atom's name in CuTe."`
	showOut
}

func (c *showMMACmd) picture() (*show.Picture, error) {
	row, err := mmaAtom(c.Atom)
	if err != nil {
		return nil, err
	}
	return show.MMA(row)
}

// Run draws the atom.
func (c *showMMACmd) Run(s *session) error { return c.print(s, c) }

// showTiledMMACmd is gocute show tiled-mma.
type showTiledMMACmd struct {
	Atom string `arg:"" name:"ATOM" help:"The atom's name in CuTe."`
	tiling
	showOut
}

func (c *showTiledMMACmd) picture() (*show.Picture, error) {
	m, err := c.tiled(c.Atom)
	if err != nil {
		return nil, err
	}
	return show.TiledMMA(m)
}

// Run draws the MMA.
func (c *showTiledMMACmd) Run(s *session) error { return c.print(s, c) }

// showCopyCmd is gocute show copy.
type showCopyCmd struct {
	Atom string `arg:"" name:"ATOM" help:"The atom's name in CuTe."`
	Elem string `default:"f16" help:"The element type: f16, bf16, f32, …"`
	copyForm
	showOut
}

func (c *showCopyCmd) picture() (*show.Picture, error) {
	t, err := c.tiledCopy(c.Atom, c.Elem)
	if err != nil {
		return nil, err
	}
	p, err := show.TiledCopy(t)
	if err == nil && c.MMA != "" {
		p.Note(c.follows())
	}
	return p, err
}

// Run draws the copy.
func (c *showCopyCmd) Run(s *session) error { return c.print(s, c) }

// showSmemCmd is gocute show smem.
type showSmemCmd struct {
	Layout string `arg:"" name:"LAYOUT" help:"The layout in shared memory, or an expression of gocute eval."`
	Elem   string `default:"f16" help:"The element type: f16, bf16, f32, …"`
	Copy   string `placeholder:"ATOM" help:"Frame what a warp touches when this copy runs, and count the bank conflicts. The flags below say how it is tiled."`
	Side   string `enum:",source,destination" default:"" help:"The copy's side in shared memory, where the atom leaves it open."`
	Warp   int    `help:"The warp that is framed."`
	Step   int    `help:"The step over the copy's tile that is framed."`
	Phase  int    `help:"The phase that is framed: the memory serves 128 bytes at a time, 8 lanes of ldmatrix."`
	copyForm
	showOut
}

func (c *showSmemCmd) picture() (*show.Picture, error) {
	if flags := c.ofCopy(); c.Copy == "" && len(flags) > 0 {
		return nil, exitError{fmt.Errorf("%s: expected --copy ATOM too, whose access it describes", flags[0]), 2}
	}
	l, err := layoutOf("LAYOUT", c.Layout)
	if err != nil {
		return nil, err
	}
	kind, err := elem.ParseKind(c.Elem)
	if err != nil {
		return nil, err
	}
	if c.Copy == "" {
		return show.Smem(l, kind.Bits(), nil)
	}
	t, err := c.tiledCopy(c.Copy, c.Elem)
	if err != nil {
		return nil, err
	}
	side := ir.Source
	if c.Side == "destination" || c.Side == "" && t.Row.Dst == "shared" {
		side = ir.Destination
	}
	p, err := show.Smem(l, kind.Bits(), &show.Access{Copy: t, Side: side, Warp: c.Warp, Step: c.Step, Phase: c.Phase})
	if err == nil && c.MMA != "" {
		p.Note(c.follows())
	}
	return p, err
}

// ofCopy lists the flags given that mean nothing without a copy.
func (c *showSmemCmd) ofCopy() (flags []string) {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"--side", c.Side != ""}, {"--warp", c.Warp != 0}, {"--step", c.Step != 0}, {"--phase", c.Phase != 0}, {"--mma", c.MMA != ""},
		{"--operand", c.Operand != ""}, {"--thr", c.Thr != ""}, {"--val", c.Val != ""}, {"--given", c.Given != "reference"}, {"--tv", c.TV != ""},
		{"--warps", c.Warps != "1,1,1"}, {"--tile", c.Tile != ""},
	} {
		if f.given {
			flags = append(flags, f.name)
		}
	}
	return flags
}

// Run draws the layout.
func (c *showSmemCmd) Run(s *session) error { return c.print(s, c) }

// showPageCmd is gocute show page.
type showPageCmd struct {
	File  string `arg:"" name:"FILE" help:"A text, such as a script or Markdown; its lines that begin with gocute show are the pictures."`
	Title string `default:"Layouts" help:"The page's title."`
	showOut
}

// Run draws the pictures of the file.
func (c *showPageCmd) Run(s *session) error {
	c.HTML = true
	_, err := c.html()
	if err == nil && c.Out != "" {
		err = s.fileToWrite("-o", string(c.Out))
	}
	if err != nil {
		return err
	}
	data, err := s.readFile(c.File, maxText)
	if err != nil {
		return err
	}
	var pictures []*show.Picture
	for i, line := range strings.Split(string(data), "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "gocute show ") {
			continue
		}
		p, err := pictureOf(line)
		if err != nil {
			return fmt.Errorf("%s:%d: %s", c.File, i+1, refusal(err))
		}
		pictures = append(pictures, p)
	}
	if len(pictures) == 0 {
		return fmt.Errorf("%s: no line begins with gocute show", c.File)
	}
	return c.write(s, show.Page(c.Title, pictures...))
}

// pictureOf draws what a line of a script does.
func pictureOf(line string) (*show.Picture, error) {
	words, err := shellWords(line)
	if err != nil {
		return nil, err
	}
	var c cli
	parser, err := kong.New(&c, kong.Name("gocute"), kong.NoDefaultHelp())
	if err != nil {
		return nil, fmt.Errorf("internal error: %w", err)
	}
	parsed, err := parser.Parse(longFlags(parser.Model.Node, words[1:]))
	if err != nil {
		return nil, err
	}
	p, ok := parsed.Selected().Target.Addr().Interface().(picturer)
	if !ok {
		return nil, fmt.Errorf("%s draws one picture, not a page", strings.Join(words[:2], " "))
	}
	return p.picture()
}

// shapeArg reads extents: 4,32 is (4,32).
func shapeArg(what, text string) (algebra.Shape, error) {
	t := strings.TrimSpace(text)
	if !strings.HasPrefix(t, "(") || len(splitModes(t)) > 1 {
		t = "(" + t + ")"
	}
	v, err := valueOf(what, t)
	if err != nil {
		return algebra.Shape{}, err
	}
	s, err := algebra.ParseShape(v.String())
	if err != nil {
		return s, fmt.Errorf("%s: expected extents such as 4,32, but got %s", what, v)
	}
	return s, nil
}
