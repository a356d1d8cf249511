package emu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocute/gocute/gen/cir"
)

// shape is a global tensor's extents and strides, for messages with coordinates and to know which elements of its
// memory belong to it; empty where the kernel does not say.
type shape struct{ extents, strides []int64 }

func (c *compiler) shape(p *cir.Param) shape {
	var s shape
	if len(p.Extents) != len(p.Strides) {
		return s
	}
	for i := range p.Extents {
		e, err := p.Extents[i].Eval(c.bound.value)
		d, err2 := p.Strides[i].Eval(c.bound.value)
		if err != nil || err2 != nil || d < 0 {
			return shape{}
		}
		s.extents, s.strides = append(s.extents, e), append(s.strides, d)
	}
	return s
}

// coordinate is the coordinate of an offset, and whether it has exactly one.
func (s shape) coordinate(offset int64) ([]int64, bool) {
	order := make([]int, len(s.strides))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(1, max(-1, s.strides[b]-s.strides[a]))) })
	at := make([]int64, len(order))
	for _, i := range order {
		if s.extents[i] > 1 {
			if s.strides[i] == 0 {
				return nil, false
			}
			at[i] = min(offset/s.strides[i], s.extents[i]-1)
			offset -= at[i] * s.strides[i]
		}
	}
	return at, offset == 0 && len(at) > 0
}

// element names an element: by its coordinate where the tensor has several modes.
func (g *gmem) element(index int64) string {
	if at, ok := g.shape.coordinate(index); ok && len(at) > 1 {
		return g.name + strings.NewReplacer(" ", ",", "[", "(", "]", ")").Replace(fmt.Sprint(at))
	}
	return fmt.Sprintf("%s[%d]", g.name, index)
}

// unwritten counts the elements of a buffer that nobody wrote; of a tensor, only those that belong to it.
func (g *gmem) unwritten() Unwritten {
	u := Unwritten{Name: g.name}
	for i, a := range g.lastWrite {
		if a != 0 || g.lastAtomic != nil && g.lastAtomic[i] != 0 {
			continue
		}
		if _, ok := g.shape.coordinate(int64(i)); !ok && len(g.shape.extents) > 0 {
			continue
		}
		if u.Count == 0 {
			u.First = int64(i)
		}
		u.Count++
	}
	return u
}

// missed turns the elements of an output that nobody wrote into a finding, at the last statement that writes it, or at its
// declaration if no statement does.
func (g *gmem) missed(p *program, out *findings, u Unwritten) {
	var stmt int32
	for _, s := range p.sites {
		if s.area == &g.area && s.kind == kStoreGlobal {
			stmt = s.stmt
		}
	}
	f := out.add(key{check: NotWritten, stmt: stmt, mem: g.name})
	if f == nil {
		return
	}
	f.Kernel, f.Pos, f.Index, f.Count = p.name, p.pos[stmt], u.First, u.Count
	f.Message = fmt.Sprintf("%d of %s's elements are never written, the first is %s", u.Count, g.name, g.element(u.First))
	if stmt == 0 {
		f.Pos, f.Message = g.declared, f.Message+": no statement of the kernel writes to it"
	}
}
