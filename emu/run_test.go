package emu

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/stretchr/testify/require"
)

func TestArguments(t *testing.T) {
	k := vectorCopy(elem.KF16, 8, 0, true).k
	k.Params[0].Sym.Multiple = 8
	k.Requires = []cir.Require{{Cond: cir.Not{X: lt(n(4000), sym.New(k.Params[0].Sym))}, Message: "n must be at most 4000"}}
	for want, change := range map[string]func(Args){
		"emu: copy: n: no value is given":                               func(a Args) { delete(a, "n") },
		"emu: copy: n: expects a value from 1 to 1073741824, but got 0": func(a Args) { a["n"] = Dim(0) },
		"emu: copy: n: expects a multiple of 8, but got 63":             func(a Args) { a["n"] = Dim(63) },
		"emu: copy: n: expects a Dim, but got emu.Scalar":               func(a Args) { a["n"] = Scalar(64) },
		"emu: copy: m: the kernel has no parameter of this name":        func(a Args) { a["m"] = Dim(1) },
		"emu: copy: in: no buffer is given":                             func(a Args) { a["in"] = nil },
		"emu: copy: in: expects a buffer of f16, but got bf16":          func(a Args) { a["in"] = NewBuffer(elem.KBF16, 64) },
		"emu: copy: in: expects at least 64 elements (n), but got 63":   func(a Args) { a["in"] = NewBuffer(elem.KF16, 63) },
		"emu: copy: out: is the same buffer as in":                      func(a Args) { a["out"] = a["in"] },
		"emu: copy: n must be at most 4000": func(a Args) {
			big := copyArgs(elem.KF16, 4008)
			a["n"], a["in"], a["out"] = big["n"], big["in"], big["out"]
		},
	} {
		args := copyArgs(elem.KF16, 64)
		change(args)
		_, err := Run(t.Context(), k, args, Options{})
		require.EqualError(t, err, want)
		var arg *ArgError
		var req *RequireError
		require.True(t, errors.As(err, &arg) || errors.As(err, &req))
	}
}

func TestBuffers(t *testing.T) {
	b := BufferOf([]elem.F32{1, -2, 0.5})
	require.Equal(t, []float64{1, -2, 0.5}, b.Float64s())
	back, err := BufferFromBytes(elem.KF32, b.Bytes())
	require.NoError(t, err)
	require.Equal(t, b, back)
	xs, err := Elems[elem.F32](back)
	require.NoError(t, err)
	require.Equal(t, []elem.F32{1, -2, 0.5}, xs)
	_, err = Elems[elem.F16](back)
	require.Error(t, err)
	nibbles, err := BufferFromBytes(elem.KS4, []byte{0x21, 0x43})
	require.NoError(t, err)
	require.Equal(t, []uint64{1, 2, 3, 4}, nibbles.Cells)
	require.Equal(t, []byte{0x21, 0x43}, nibbles.Bytes())
	_, err = BufferFromBytes(elem.KF64, make([]byte, 7))
	require.Error(t, err)
}

// TestSameForWorkersAndSeeds: errors included, nothing depends on the workers.
func TestSameForWorkersAndSeeds(t *testing.T) {
	m := vectorCopy(elem.KF32, 4, 0, false)
	m.k.Grid[0] = m.k.Grid[0].Add(n(20)) // too many blocks
	var first string
	for i := range 12 {
		rep := run(t, m.k, copyArgs(elem.KF32, 4001), Options{Workers: 1 + i})
		if first == "" {
			first = rep.Err().Error()
		}
		require.Equal(t, first, rep.Err().Error())
	}
	rep := run(t, m.k, copyArgs(elem.KF32, 4001), Options{MaxFindings: 1})
	require.Len(t, rep.Findings, 1)
	require.Positive(t, rep.More)
	rep = run(t, m.k, copyArgs(elem.KF32, 4001), Options{Blocks: func(x, _, _ int64) bool { return x < 3 }})
	require.NoError(t, rep.Err())
	require.EqualValues(t, 3, rep.Counts.Blocks)
}

func TestCancel(t *testing.T) {
	m := newMaker("forever", 32)
	i := &sym.Symbol{Name: "i", Class: sym.Loop, Hi: math.MaxInt64 / 8}
	var body []cir.Stmt
	r := m.reg(&body, "r", elem.KF32, 1)
	m.k.Body = []cir.Stmt{body[0], cir.For{Pos: m.at(), Sym: i, Hi: n(int64(math.MaxInt64 / 8)), Body: []cir.Stmt{cir.Fill{Pos: m.at(), Reg: r}}}}
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	_, err := Run(ctx, m.k, nil, Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// TestInternalErrors: whatever breaks inside comes out as an error.
func TestInternalErrors(t *testing.T) {
	m := newMaker("broken", 32)
	m.k.Body = []cir.Stmt{cir.Load{Pos: m.at()}}
	_, err := Run(t.Context(), m.k, nil, Options{})
	var kernel *KernelError
	require.ErrorAs(t, err, &kernel)
	_, err = Run(t.Context(), nil, nil, Options{})
	require.ErrorAs(t, err, &kernel)
	m.k.Params = append(m.k.Params, nil)
	_, err = Run(t.Context(), m.k, nil, Options{})
	var internal *InternalError
	require.ErrorAs(t, err, &internal)
	require.ErrorContains(t, err, "internal error: ")
}

// TestControl sums up in loops whose bounds and variables differ by lane.
func TestControl(t *testing.T) {
	m := newMaker("control", 64)
	out := m.global("out", elem.KS32, n(64), "w")
	v := &sym.Symbol{Name: "v", Class: sym.Var, Lo: 0, Hi: 1 << 30}
	i := &sym.Symbol{Name: "i", Class: sym.Loop, Lo: 0, Hi: 1 << 30}
	j := &sym.Symbol{Name: "j", Class: sym.Loop, Lo: 0, Hi: 10}
	set := func(e sym.Expr) cir.Stmt { return cir.Assign{Pos: m.at(), Sym: v, Value: e} }
	V, I := sym.New(v), sym.New(i)
	m.k.Body = []cir.Stmt{
		cir.Var{Pos: m.at(), Sym: v},
		cir.For{Pos: m.at(), Sym: i, Lo: tid.Mod(n(3)), Hi: tid, Body: []cir.Stmt{
			cir.If{Pos: m.at(), Cond: cir.Cmp{Op: cir.EQ, X: I.Mod(n(2)), Y: n(0)},
				Then: []cir.Stmt{set(V.Add(I))}, Else: []cir.Stmt{set(V.Add(I.Mul(n(3))).Add(n(1)))}},
			cir.For{Pos: m.at(), Sym: j, Hi: n(2), Body: []cir.Stmt{set(V.Add(sym.New(j)))}},
		}},
		cir.If{Pos: m.at(), Cond: cir.Or{lt(tid, n(5)), cir.Not{X: lt(tid, n(60))}, cir.And{lt(n(20), tid), lt(tid, n(23))}},
			Then: []cir.Stmt{set(V.Add(n(1000000)))}},
		cir.StoreValue{Pos: m.at(), Dst: addr(out, tid), Value: cir.IntValue{Elem: elem.KS32, Expr: V.FloorDiv(n(3)).Xor(tid).Max(n(7))}},
	}
	args := Args{"out": NewBuffer(elem.KS32, 64)}
	require.NoError(t, run(t, m.k, args, Options{}).Err())
	for tid, got := range args["out"].(*Buffer).Float64s() {
		v := 0
		for i := tid % 3; i < tid; i++ {
			v += 1 + i + i%2*(2*i+1)
		}
		if tid < 5 || tid >= 60 || 20 < tid && tid < 23 {
			v += 1000000
		}
		require.EqualValues(t, max(v/3^tid, 7), got, "thread %d", tid)
	}
}

func TestIntRange(t *testing.T) {
	m := newMaker("range", 32)
	v := &sym.Symbol{Name: "v", Class: sym.Var, Lo: 0, Hi: 15}
	m.mark("let")
	m.k.Body = []cir.Stmt{cir.Let{Pos: m.at(), Sym: v, Value: tid}}
	f := m.wantOnly(t, run(t, m.k, nil, Options{}), "let", IntRange)
	require.Equal(t, "v is declared as 0 to 15, but it is 16", f.Message)
}

func TestRegisterFindings(t *testing.T) {
	m := newMaker("regs", 32)
	out := m.global("out", elem.KF32, n(32), "w")
	var body []cir.Stmt
	r := m.reg(&body, "r", elem.KF32, 2)
	set := cir.SetReg{Pos: m.at(), Dst: ref(r, 1, 1), Value: cir.Lit{Elem: elem.KF32, V: 2}}
	m.mark("read")
	store := cir.StoreValue{Pos: m.at(), Dst: addr(out, tid), Value: cir.Binary{Op: cir.AddOp, X: cir.RegElem{Ref: ref(r, 0, 1)}, Y: cir.RegElem{Ref: ref(r, 1, 1)}}}
	m.k.Body = append(body, set, store)
	args := Args{"out": NewBuffer(elem.KF32, 32)}
	f := m.wantOnly(t, run(t, m.k, args, Options{}), "read", Uninitialised)
	require.EqualValues(t, 0, f.Index)
	m.mark("outside")
	m.k.Body = append(body, cir.SetReg{Pos: m.at(), Dst: ref(r, 2, 1), Value: cir.Lit{Elem: elem.KF32}})
	m.wantOnly(t, run(t, m.k, args, Options{}), "outside", OutOfBounds)
	// Half of the lanes write it, all read it.
	half := cir.If{Pos: m.at(), Cond: lt(tid, n(16)), Then: []cir.Stmt{cir.Fill{Pos: m.at(), Reg: r}}}
	m.mark("read")
	store.Pos = m.at()
	m.k.Body = append(body, half, store)
	f = m.wantOnly(t, run(t, m.k, args, Options{}), "read", Uninitialised)
	require.Equal(t, []int{16}, f.Threads)
}
