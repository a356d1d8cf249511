package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
)

// tiling says how an MMA atom is repeated.
type tiling struct {
	Warps string `default:"1,1,1" help:"The atoms over (M,N,K): extents, or a layout such as (2,2,1):(2,1,0)."`
	Tile  string `help:"The tile over (M,N,K), such as 32,32,16; a mode may be _, or a layout that permutes it."`
}

// tiled makes the tiled MMA of an atom.
func (t *tiling) tiled(atom string) (*ir.TiledMMA, error) {
	row, err := mmaAtom(atom)
	if err != nil {
		return nil, err
	}
	var warps algebra.Layout
	if strings.Contains(t.Warps, ":") {
		warps, err = layoutOf("--warps", t.Warps)
	} else {
		var s algebra.Shape
		if s, err = shapeArg("--warps", t.Warps); err == nil {
			warps = algebra.Compact(s)
		}
	}
	if err != nil {
		return nil, err
	}
	perm := [3]any{algebra.Underscore, algebra.Underscore, algebra.Underscore}
	m, err := ir.NewTiledMMA(row, warps, perm) // without a tile, so that each mistake is told of the flag that has it
	if err != nil {
		return nil, fmt.Errorf("--warps: %s", refusal(err))
	}
	if t.Tile == "" {
		return m, nil
	}
	modes := splitModes(t.Tile)
	if len(modes) > 3 {
		return nil, fmt.Errorf("--tile: expects up to three modes, M, N and K, but got %s", t.Tile)
	}
	for i, text := range modes {
		if perm[i], err = tileMode(text); err != nil {
			return nil, err
		}
	}
	if m, err = ir.NewTiledMMA(row, warps, perm); err != nil {
		return nil, fmt.Errorf("--tile: %s", refusal(err))
	}
	return m, nil
}

// tileMode is one mode of a tile: _, an extent or a layout.
func tileMode(text string) (any, error) {
	text = strings.TrimSpace(text)
	if text == "_" {
		return algebra.Underscore, nil
	}
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return n, nil
	}
	return layoutOf("--tile", text)
}

// copyForm says how a copy atom is laid out: by an MMA's operand, by thread and value layouts, or by a TV layout.
type copyForm struct {
	MMA     string `name:"mma" placeholder:"ATOM" help:"Follow this MMA, repeated by --warps and --tile."`
	Operand string `enum:",A,B,C" default:"" help:"The MMA's operand: A, B or C."`
	Thr     string `placeholder:"LAYOUT" help:"Coordinates to threads; goes with --val."`
	Val     string `placeholder:"LAYOUT" help:"Coordinates to values."`
	Given   string `enum:"reference,source,destination" default:"reference" help:"The side that --thr and --val describe: reference, source or destination."`
	TV      string `name:"tv" placeholder:"LAYOUT" help:"The reference's TV layout over --tile."`
	tiling
}

// tiledCopy makes the tiled copy of an atom.
func (f *copyForm) tiledCopy(atom, element string) (*ir.TiledCopy, error) {
	row, err := copyAtom(atom)
	if err != nil {
		return nil, err
	}
	kind, err := elem.ParseKind(element)
	if err != nil {
		return nil, err
	}
	if err := f.ignored(); err != nil {
		return nil, err
	}
	switch {
	case f.MMA != "" && f.Thr+f.Val+f.TV == "":
		if f.Operand == "" {
			return nil, exitError{fmt.Errorf("--mma needs --operand A, B or C"), 2}
		}
		m, err := f.tiled(f.MMA)
		if err != nil {
			return nil, err
		}
		return ir.NewTiledCopyMMA(row, kind, m, ir.Operand(f.Operand[0]))
	case f.TV != "" && f.MMA+f.Thr+f.Val == "" && f.Tile != "":
		tv, err := layoutOf("--tv", f.TV)
		if err != nil {
			return nil, err
		}
		tile, err := shapeArg("--tile", f.Tile)
		if err != nil {
			return nil, err
		}
		return ir.NewTiledCopyTV(row, kind, tv, tile)
	case f.Thr != "" && f.Val != "" && f.MMA+f.TV == "":
		return f.thrVal(row, kind)
	}
	return nil, exitError{fmt.Errorf("say how the copy is laid out: --mma ATOM --operand A, or --thr LAYOUT --val LAYOUT, or --tv LAYOUT --tile M,N"), 2}
}

// ignored refuses the flags of one way to lay a copy out for another.
func (f *copyForm) ignored() error {
	operand, warps := given{"--operand", f.Operand != ""}, given{"--warps", f.Warps != "1,1,1"}
	side, tile := given{"--given", f.Given != "reference"}, given{"--tile", f.Tile != ""}
	switch {
	case f.MMA != "":
		return meaningless("it is about --thr and --val, and --mma lays the copy out", side)
	case f.TV != "":
		return meaningless("--tv lays the copy out", operand, warps, side)
	case f.Thr+f.Val != "":
		return meaningless("--thr and --val lay the copy out", operand, warps, tile)
	}
	return nil
}

// follows says which operand the copy follows.
func (f *copyForm) follows() string {
	out := "follows operand " + f.Operand + " of " + f.MMA
	if f.Warps != "1,1,1" {
		out += ", warps " + f.Warps
	}
	if f.Tile != "" {
		out += ", tile " + f.Tile
	}
	return out
}

// thrVal makes a tiled copy of thread and value layouts.
func (f *copyForm) thrVal(row *atoms.CopyRow, kind elem.Kind) (*ir.TiledCopy, error) {
	thr, err := layoutOf("--thr", f.Thr)
	if err != nil {
		return nil, err
	}
	val, err := layoutOf("--val", f.Val)
	if err != nil {
		return nil, err
	}
	switch f.Given {
	case "source":
		return ir.NewTiledCopySide(row, kind, ir.Source, thr, val)
	case "destination":
		return ir.NewTiledCopySide(row, kind, ir.Destination, thr, val)
	}
	return ir.NewTiledCopy(row, kind, thr, val)
}

// mmaAtom finds an MMA atom by name.
func mmaAtom(name string) (*atoms.MMARow, error) {
	if row, ok := atoms.FindMMA(name); ok {
		return row, nil
	}
	var names []string
	for _, r := range atoms.AllMMA() {
		names = append(names, r.Name)
	}
	return nil, noAtom("MMA", name, names)
}

// copyAtom finds a copy atom by name.
func copyAtom(name string) (*atoms.CopyRow, error) {
	if row, ok := atoms.FindCopy(name); ok {
		return row, nil
	}
	var names []string
	for _, r := range atoms.AllCopy() {
		names = append(names, r.Name)
	}
	return nil, noAtom("copy", name, names)
}

func noAtom(what, name string, names []string) error {
	if near := nearest(name, names); len(near) > 0 {
		return fmt.Errorf("there is no %s atom %s; did you mean %s?", what, name, strings.Join(near, ", "))
	}
	return fmt.Errorf("there is no %s atom %s; one is %s", what, name, names[0])
}

// splitModes splits at the commas outside parentheses and angle brackets.
func splitModes(text string) (modes []string) {
	depth, from := 0, 0
	for i, r := range text {
		switch r {
		case '(', '<':
			depth++
		case ')', '>':
			depth--
		case ',':
			if depth == 0 {
				modes, from = append(modes, text[from:i]), i+1
			}
		}
	}
	return append(modes, text[from:])
}

// shellWords splits a command line at spaces outside quotes, as a shell does.
func shellWords(line string) (words []string, err error) {
	var word strings.Builder
	quote, started := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, started = r, true
		case r == ' ' || r == '\t' || r == '\r':
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteRune(r)
			started = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if started {
		words = append(words, word.String())
	}
	return words, nil
}
