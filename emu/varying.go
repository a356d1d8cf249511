package emu

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

// lanesOf are the symbols whose values may differ between the lanes of a warp, by name: those computed from the
// thread index, and variables that only some lanes assign.
type lanesOf struct {
	c      *compiler
	names  map[string]bool
	depth  map[string]int // of the declaration, in divergent bodies
	inside int            // the divergent bodies around the statement
	grown  bool
}

// varying finds those symbols; it repeats until nothing changes, since loops carry values backwards.
func (c *compiler) varying(body []cir.Stmt) map[string]bool {
	a := &lanesOf{c: c, names: map[string]bool{}}
	for a.grown = true; a.grown; {
		a.grown, a.depth = false, map[string]int{}
		a.walk(body)
	}
	return a.names
}

func (a *lanesOf) mark(s *sym.Symbol, lane bool) {
	if lane && !a.names[s.Name] {
		a.names[s.Name], a.grown = true, true
	}
}

func (a *lanesOf) walk(body []cir.Stmt) {
	for _, s := range body {
		switch s := s.(type) {
		case cir.Let:
			a.mark(s.Sym, a.expr(s.Value))
		case cir.Arrive:
			a.mark(s.Sym, false)
		case cir.Var:
			a.depth[s.Sym.Name] = a.inside
			a.mark(s.Sym, a.expr(s.Init))
		case cir.Assign:
			a.mark(s.Sym, a.inside > a.depth[s.Sym.Name] || a.expr(s.Value))
		case cir.For:
			lane := a.expr(s.Lo) || a.expr(s.Hi)
			a.mark(s.Sym, lane)
			a.enter(lane, s.Body)
		case cir.If:
			lane := a.cond(s.Cond)
			a.enter(lane, s.Then)
			a.enter(lane, s.Else)
		}
	}
}

func (a *lanesOf) enter(lane bool, body []cir.Stmt) {
	if lane {
		a.inside++
		defer func() { a.inside-- }()
	}
	a.walk(body)
}

func (a *lanesOf) expr(e sym.Expr) bool {
	v := e.View()
	if v.Op == sym.Sym {
		return a.names[v.Sym.Name] || a.c.isThread(v.Sym)
	}
	if v.Op == sym.Div {
		if _, ok := a.c.warpIndex(v); ok {
			return false
		}
	}
	for _, x := range v.Args {
		if a.expr(x) {
			return true
		}
	}
	return false
}

func (a *lanesOf) cond(c cir.Cond) bool {
	any := func(cs []cir.Cond) bool {
		for _, x := range cs {
			if a.cond(x) {
				return true
			}
		}
		return false
	}
	switch c := c.(type) {
	case cir.Cmp:
		return a.expr(c.X) || a.expr(c.Y)
	case cir.ValCmp:
		return a.value(c.X) || a.value(c.Y)
	case cir.And:
		return any(c)
	case cir.Or:
		return any(c)
	case cir.Not:
		return a.cond(c.X)
	}
	return false
}

// value reports whether a value may differ between lanes; what comes from memory or registers may.
func (a *lanesOf) value(v cir.Value) bool {
	switch v := v.(type) {
	case cir.Lit, cir.ParamValue:
		return false
	case cir.IntValue:
		return a.expr(v.Expr)
	case cir.Unary:
		return a.value(v.X)
	case cir.Convert:
		return a.value(v.X)
	case cir.Binary:
		return a.value(v.X) || a.value(v.Y)
	}
	return true
}
