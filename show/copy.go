package show

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/dsl/ir"
)

// wide is the width, in cells, from which a copy's sides stand one above the other.
const wide = 18

// TiledCopy draws both sides of a tiled copy over its tile: who reads an element (or, for ldmatrix, gives the address
// of its row) on the source side, and into which thread's which value it comes on the destination side.
func TiledCopy(c *ir.TiledCopy) (*Picture, error) {
	if c == nil || c.Row == nil {
		return nil, fmt.Errorf("expects a tiled copy, but got none")
	}
	p := &Picture{
		title: fmt.Sprintf("TiledCopy of %s, %s", c.Row.Name, c.Elem),
		notes: []string{
			fmt.Sprintf("tile %s; %s; the atom: %s", c.TileShape, countsOf(c.TV), countsOf(c.Ref)),
			"T: thread, V: value of that thread",
		},
	}
	spaces := [...]string{ir.Source: c.Row.Src, ir.Destination: c.Row.Dst}
	for _, side := range []ir.Side{ir.Source, ir.Destination} {
		tv, err := c.SideTV(side)
		if err != nil {
			return nil, err
		}
		g, err := tvGrid(tvSpec{name: side.String(), tv: tv, tile: c.TileShape})
		if err != nil {
			return nil, fmt.Errorf("%s side: %w", side, err)
		}
		head := side.String()
		if s := spaces[side]; s != "any" && s != "" {
			head += " (" + s + ")"
		}
		g.head = []string{head, tv.String()}
		g.rule = matrices(c)
		if side == ir.Destination {
			if g.cols > wide {
				g.row = 1
			} else {
				g.col = 1
			}
		}
		p.grids = append(p.grids, g)
	}
	return p.fits()
}

// matrices is the extent of one 8x8 matrix of ldmatrix or stmatrix, in elements.
func matrices(c *ir.TiledCopy) [2]int64 {
	if !isMatrix(c) {
		return [2]int64{}
	}
	if strings.Contains(c.Row.PTX, ".trans") {
		return [2]int64{words(c.Elem), 8}
	}
	return [2]int64{8, words(c.Elem)}
}

func isMatrix(c *ir.TiledCopy) bool {
	return strings.HasPrefix(c.Row.PTX, "ldmatrix") || strings.HasPrefix(c.Row.PTX, "stmatrix")
}
