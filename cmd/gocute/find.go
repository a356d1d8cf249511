package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/calc"
	"github.com/gocute/gocute/algebra/find"
	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/elem"
)

// findCmd is gocute find.
type findCmd struct {
	Swizzle swizzleCmd `cmd:"" help:"The swizzle that makes a shared-memory layout free of bank conflicts for the accesses given."`
	Padding paddingCmd `cmd:"" help:"The padding that does so."`
	Copy    copyCmd    `cmd:"" help:"Thread and value layouts of a coalesced copy, and the shared layout its stores want."`
}

// Help is shown by --help.
func (findCmd) Help() string {
	return `Examples:

  gocute find swizzle '(64,64):(64,1)' --type f16 --ldmatrix
  gocute find swizzle '(64,64):(64,1)' --ldmatrix --stores '((8,16),8):((512,1),64)' --vector 128
  gocute find padding '(64,64):(64,1)' --type f16 --ldmatrix
  gocute find copy 128,64 --type f16 --vector 128 --threads 256`
}

// sharedGoal is what swizzle and padding have in common.
type sharedGoal struct {
	Layout   string `arg:"" name:"LAYOUT" help:"The layout in shared memory, such as (64,64):(64,1), or an expression of gocute eval."`
	Type     string `default:"f16" help:"The element type: f16, bf16, f32, …"`
	Ldmatrix bool   `help:"The rows of ldmatrix must be free of conflicts."`
	Stores   string `name:"stores" help:"A TV layout, (thread, value) -> index in the tile with the first mode first, whose vectors must be."`
	Vector   int64  `default:"128" help:"The bits of a vector of --stores."`
}

// valueOf evaluates the text of an argument. What cannot be read exits 2 and shows the place.
func valueOf(what, text string) (calc.Value, error) {
	v, err := calc.Eval(text)
	var bad *calc.SyntaxError
	if errors.As(err, &bad) {
		return nil, unread(what+": ", bad)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s", what, refusal(err))
	}
	return v, nil
}

// layoutOf evaluates a text that must be a layout.
func layoutOf(what, text string) (algebra.Layout, error) {
	v, err := valueOf(what, text)
	if err != nil {
		return algebra.Layout{}, err
	}
	l, ok := v.(algebra.Layout)
	if !ok {
		return l, fmt.Errorf("%s: expected a layout, but %s is none", what, v)
	}
	return l, nil
}

// bitsOf is the size of an element type.
func bitsOf(name string) (int64, error) {
	k, err := elem.ParseKind(name)
	if err != nil {
		return 0, err
	}
	return int64(k.Bits()), nil
}

func (g *sharedGoal) accesses() (algebra.Layout, int64, []find.Access, error) {
	l, err := layoutOf("LAYOUT", g.Layout)
	if err != nil {
		return l, 0, nil, err
	}
	bits, err := bitsOf(g.Type)
	if err != nil {
		return l, 0, nil, err
	}
	var as []find.Access
	if g.Ldmatrix {
		a, err := find.Rows(l, bits)
		if err != nil {
			return l, 0, nil, err
		}
		as = append(as, a)
	}
	if g.Stores != "" {
		tv, err := layoutOf("--stores", g.Stores)
		if err != nil {
			return l, 0, nil, err
		}
		if g.Vector < 1 || g.Vector%bits != 0 {
			return l, 0, nil, fmt.Errorf("--vector: expected whole elements of %d bits, but got %d bits", bits, g.Vector)
		}
		a, err := find.Vectors(fmt.Sprintf("%d-bit stores", g.Vector), tv, bits, g.Vector/bits)
		if err != nil {
			return l, 0, nil, err
		}
		as = append(as, a)
	}
	if g.Stores == "" && g.Vector != 128 {
		return l, 0, nil, meaningless("it is about the vectors of --stores", given{"--vector", true})
	}
	if len(as) == 0 {
		return l, 0, nil, errors.New("name the accesses: --ldmatrix, --stores TV, or both")
	}
	return l, bits, as, nil
}

func (s *session) found(r find.Result, err error) error {
	if err != nil {
		return err
	}
	out := object[report.FindShared](s)
	out.Layout, out.Reason = r.Layout.String(), r.Reason
	fmt.Fprintf(s.stdout, "%s\n%s\n", r.Layout, r.Reason)
	return nil
}

type swizzleCmd struct {
	sharedGoal
	jsonFlag
}

// Run prints the layout and the reason.
func (c *swizzleCmd) Run(s *session) error {
	l, bits, as, err := c.accesses()
	if err != nil {
		return err
	}
	return s.found(find.Swizzle(l, bits, as))
}

type paddingCmd struct {
	sharedGoal
	jsonFlag
}

// Run prints the layout and the reason.
func (c *paddingCmd) Run(s *session) error {
	l, bits, as, err := c.accesses()
	if err != nil {
		return err
	}
	return s.found(find.Padding(l, bits, as))
}

type copyCmd struct {
	Tile    string `arg:"" name:"M,N" help:"The tile, such as 128,64."`
	Type    string `default:"f16" help:"The element type: f16, bf16, f32, …"`
	Vector  int64  `default:"128" help:"The bits that a thread moves at once."`
	Threads int64  `default:"128" help:"How many threads copy."`
	Along   string `default:"n" enum:"m,n" help:"The mode that is contiguous: m or n."`
	jsonFlag
}

// Run prints the layouts and the reason.
func (c *copyCmd) Run(s *session) error {
	tile, err := shapeArg("M,N", c.Tile)
	if err != nil {
		return err
	}
	bits, err := bitsOf(c.Type)
	if err != nil {
		return err
	}
	g := find.Goal{Tile: tile, Bits: bits, Vector: c.Vector, Threads: c.Threads, Across: strings.Index("mn", c.Along)}
	r, err := find.ThreadValues(g)
	if err != nil {
		return err
	}
	out := object[report.FindCopy](s)
	out.Threads, out.Values, out.TV, out.Repeats = r.Threads.String(), r.Values.String(), r.TV.String(), fmt.Sprint(r.Repeats)
	out.Reason, out.Shared = r.Reason, &report.SharedLayout{Layout: r.Shared.Layout.String(), Reason: r.Shared.Reason}
	fmt.Fprintf(s.stdout, "threads  %s\nvalues   %s\nTV       %s\nrepeats  %s\nshared   %s\n%s\n%s\n",
		r.Threads, r.Values, r.TV, r.Repeats, r.Shared.Layout, r.Reason, r.Shared.Reason)
	return nil
}
