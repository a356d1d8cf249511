package emu

import "github.com/gocute/gocute/gen/cir"

// touched is the memory that a kernel's statements write and read.
type touched struct {
	stored, loaded, atomic map[*cir.Mem]bool
	arrives                bool // blocks arrive at counters
}

func touches(body []cir.Stmt) touched {
	t := touched{stored: map[*cir.Mem]bool{}, loaded: map[*cir.Mem]bool{}, atomic: map[*cir.Mem]bool{}}
	cir.Walk(body, func(s cir.Stmt) {
		if a, ok := s.(cir.Arrive); ok {
			t.arrives, t.atomic[a.Counter.Mem] = true, true
		}
		t.stmt(s)
	})
	return t
}

func (t touched) stmt(s cir.Stmt) {
	switch s := s.(type) {
	case cir.If:
		t.cond(s.Cond)
	case cir.Store:
		t.stored[s.Dst.Mem] = true
		t.cond(s.Pred)
	case cir.StoreValue:
		t.stored[s.Dst.Mem] = true
		t.cond(s.Pred)
		t.value(s.Value)
	case cir.SetReg:
		t.value(s.Value)
	case cir.SetWord:
		t.values(s.Values...)
	case cir.Load:
		t.loaded[s.Src.Mem] = true
		t.cond(s.Pred)
	case cir.CpAsyncStmt:
		t.loaded[s.Src.Mem] = true
		t.cond(s.Pred)
	case cir.TensorLoad:
		t.loaded[s.Map.Of.Mem] = true
	case cir.Vote:
		t.cond(s.Cond)
	case cir.Atomic:
		t.atomic[s.Dst.Mem] = true
		t.cond(s.Pred)
		t.values(s.Src, s.Compare)
	}
}

func (t touched) values(vs ...cir.Value) {
	for _, v := range vs {
		t.value(v)
	}
}

func (t touched) value(v cir.Value) {
	switch v := v.(type) {
	case cir.MemElem:
		t.loaded[v.Addr.Mem] = true
	case cir.Binary:
		t.values(v.X, v.Y)
	case cir.FMA:
		t.values(v.X, v.Y, v.Z)
	case cir.Unary:
		t.value(v.X)
	case cir.Convert:
		t.value(v.X)
	case cir.Select:
		t.cond(v.Cond)
		t.values(v.X, v.Y)
	}
}

func (t touched) conds(cs []cir.Cond) {
	for _, c := range cs {
		t.cond(c)
	}
}

func (t touched) cond(c cir.Cond) {
	switch c := c.(type) {
	case cir.ValCmp:
		t.values(c.X, c.Y)
	case cir.And:
		t.conds(c)
	case cir.Or:
		t.conds(c)
	case cir.Not:
		t.cond(c.X)
	}
}
