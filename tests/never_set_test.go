package tests

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// receivers are nil and zero values of every exported type of dsl that has methods, by the type's name.
var receivers = map[string][]any{
	"Budget":     {dsl.Budget{}, (*dsl.Budget)(nil)},
	"Cond":       {dsl.Cond{}, (*dsl.Cond)(nil)},
	"Error":      {(*dsl.Error)(nil), &dsl.Error{}},
	"Expr":       {dsl.Expr{}, (*dsl.Expr)(nil)},
	"Family":     {(*dsl.Family)(nil), &dsl.Family{}},
	"K":          {(*dsl.K)(nil), &dsl.K{}},
	"Kernel":     {(*dsl.Kernel)(nil), &dsl.Kernel{}},
	"Layout":     {dsl.Layout{}, (*dsl.Layout)(nil)},
	"Pipeline":   {(*dsl.Pipeline)(nil), &dsl.Pipeline{}},
	"Ref":        {(*dsl.Ref)(nil), &dsl.Ref{}},
	"RefTensor":  {dsl.RefTensor{}, (*dsl.RefTensor)(nil)},
	"Tensor":     {dsl.Tensor[dsl.Gmem, elem.F32]{}, (*dsl.Tensor[dsl.Rmem, elem.F32])(nil)},
	"ThrCopy":    {dsl.ThrCopy[dsl.Gmem, dsl.Rmem, elem.F32]{}, (*dsl.ThrCopy[dsl.Gmem, dsl.Rmem, elem.F32])(nil)},
	"TiledCopy":  {dsl.TiledCopy[dsl.Gmem, dsl.Rmem, elem.F32]{}, (*dsl.TiledCopy[dsl.Gmem, dsl.Rmem, elem.F32])(nil)},
	"TiledMMA":   {dsl.TiledMMA[elem.F32, elem.F16, elem.F16, elem.F32]{}, (*dsl.TiledMMA[elem.F32, elem.F16, elem.F16, elem.F32])(nil)},
	"Val":        {dsl.Val[elem.F32]{}, (*dsl.Val[elem.F32])(nil)},
	"Var":        {dsl.Var{}, (*dsl.Var)(nil)},
	"BudgetKind": {},
}

// mustFail are the types whose methods have nothing to work on: each call is a mistake.
var mustFail = map[string]bool{"K": true, "Pipeline": true}

// methods lists the exported methods in dsl's sources, by type.
func methods(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("../dsl/*.go")
	require.NoError(t, err)
	out := map[string][]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.IsExported() {
				if of := typeName(fn.Recv.List[0].Type); ast.IsExported(of) {
					out[of] = append(out[of], fn.Name.Name)
				}
			}
		}
	}
	return out
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestNeverSet calls every exported method of dsl on nil and on the zero value: what is wrong is the caller's mistake, at the
// caller's line, and never an internal error.
func TestNeverSet(t *testing.T) {
	calls := 0
	for of, names := range methods(t) {
		values, ok := receivers[of]
		require.True(t, ok, "a nil or zero dsl.%s is not tested", of)
		for _, v := range values {
			for _, name := range names {
				m := reflect.ValueOf(v).MethodByName(name)
				if !m.IsValid() {
					require.NotEqual(t, reflect.Pointer, reflect.TypeOf(v).Kind(), "%T.%s", v, name)
					continue
				}
				for _, some := range []bool{false, true} {
					calls++
					k := kernel("k", func(*dsl.K) { m.Call(plausible(m.Type(), some)) })
					if mustFail[of] {
						require.ErrorContains(t, k.Err(), ": k: "+name+": ", "%T", v)
					}
					for _, err := range unjoin(k.Err()) {
						var e *dsl.Error
						require.True(t, errors.As(err, &e), "%T.%s: %v", v, name, err)
						require.NotContains(t, err.Error(), "internal error")
						require.NotContains(t, err.Error(), "invalid memory address")
						require.NotContains(t, err.Error(), "index out of range")
						require.Equal(t, "never_set_test.go", filepath.Base(e.Pos.File), "%T.%s: %v", v, name, err)
						require.Positive(t, e.Pos.Line)
					}
				}
			}
		}
	}
	require.Greater(t, calls, 300)
}

// plausible are arguments for a function: zeros, or some that no check of arguments refuses at once.
func plausible(f reflect.Type, some bool) []reflect.Value {
	var out []reflect.Value
	for i := range f.NumIn() {
		in := f.In(i)
		if f.IsVariadic() && i == f.NumIn()-1 {
			if !some {
				break
			}
			in = in.Elem()
		}
		v := reflect.New(in).Elem()
		switch {
		case !some:
		case in.Kind() == reflect.Func:
			v = reflect.MakeFunc(in, func([]reflect.Value) []reflect.Value {
				var zero []reflect.Value
				for i := range in.NumOut() {
					zero = append(zero, reflect.New(in.Out(i)).Elem())
				}
				return zero
			})
		case in.Kind() == reflect.String:
			v.SetString("x")
		case v.CanInt():
			v.SetInt(1)
		case in.Kind() == reflect.Interface && in.NumMethod() == 0:
			v.Set(reflect.ValueOf(1))
		}
		out = append(out, v)
	}
	return out
}

// TestNilK gives every function of dsl that takes a K one that is nil, and one that Define did not make.
func TestNilK(t *testing.T) {
	for op, use := range map[string]func(k *dsl.K){
		"In":           func(k *dsl.K) { dsl.In[elem.F32](k, "A", dsl.Shape(4)) },
		"Out":          func(k *dsl.K) { dsl.Out[elem.F32](k, "A", dsl.Shape(4)) },
		"InOut":        func(k *dsl.K) { dsl.InOut[elem.F32](k, "A", dsl.Shape(4)) },
		"Scalar":       func(k *dsl.K) { dsl.Scalar[elem.F32](k, "a") },
		"Shared":       func(k *dsl.K) { dsl.Shared[elem.F32](k, "s", dsl.Shape(4)) },
		"Clock64":      func(k *dsl.K) { dsl.Clock64(k) },
		"GlobalTimer":  func(k *dsl.K) { dsl.GlobalTimer(k) },
		"NewPipeline":  func(k *dsl.K) { dsl.NewPipeline(k, "p", 2, dsl.Groups) },
		"Arrive":       func(k *dsl.K) { dsl.Arrive(k, dsl.Tensor[dsl.Gmem, elem.U32]{}, 1) },
		"FragmentLike": func(*dsl.K) { dsl.FragmentLike(dsl.Tensor[dsl.Gmem, elem.F32]{}) },
	} {
		for _, none := range []*dsl.K{nil, {}} {
			err := kernel("k", func(*dsl.K) { use(none) }).Err()
			require.ErrorContains(t, err, ": k: "+op+": ")
			require.ErrorContains(t, err, "never_set_test.go:")
			oneLine(t, err)
		}
	}
}

// TestPanicInGo: a panic in Go's library is the mistake of the user's line that called it.
func TestPanicInGo(t *testing.T) {
	err := kernel("k", func(*dsl.K) { _ = strings.Repeat("x", -1) }).Err()
	require.ErrorContains(t, err, "never_set_test.go:")
	require.ErrorContains(t, err, "the kernel's function panicked: strings: negative Repeat count")
}

// TestNeverSetArguments gives functions of dsl values that were never set: whatever comes of it, it is no internal error.
func TestNeverSetArguments(t *testing.T) {
	type (
		g2r  = dsl.TiledCopy[dsl.Gmem, dsl.Rmem, elem.F32]
		f16s = dsl.TiledMMA[elem.F32, elem.F16, elem.F16, elem.F32]
	)
	var (
		atom  atoms.CopyAtom[dsl.Gmem, dsl.Rmem]
		mma   atoms.MMAAtom[elem.F32, elem.F16, elem.F16, elem.F32]
		tiled f16s
		glob  dsl.Tensor[dsl.Gmem, elem.F32]
		smem  dsl.Tensor[dsl.Smem, elem.F32]
		frag  dsl.Tensor[dsl.Rmem, elem.F32]
		half  dsl.Tensor[dsl.Rmem, elem.F16]
		none  dsl.Layout
		load  = dsl.NewTiledCopy[elem.F32](atoms.UniversalCopy[dsl.Gmem, dsl.Rmem](32), dsl.Shape(32), dsl.Shape(1))
	)
	for name, use := range map[string]func(k *dsl.K){
		"NewTiledCopy atom": func(k *dsl.K) { dsl.NewTiledCopy[elem.F32](atom, dsl.Shape(32), dsl.Shape(1)).Slice(k.Thread) },
		"NewTiledCopy": func(k *dsl.K) {
			dsl.NewTiledCopy[elem.F32](atoms.UniversalCopy[dsl.Gmem, dsl.Rmem](32), none, none).Slice(k.Thread)
		},
		"NewTiledCopyS":       func(k *dsl.K) { dsl.NewTiledCopyS[elem.F32](atom, none, none).Slice(k.Thread) },
		"NewTiledCopyD":       func(k *dsl.K) { dsl.NewTiledCopyD[elem.F32](atom, none, none).Slice(k.Thread) },
		"NewTiledCopyTV":      func(k *dsl.K) { dsl.NewTiledCopyTV[elem.F32](atom, none, none).Slice(k.Thread) },
		"NewCotiledCopy":      func(k *dsl.K) { dsl.NewCotiledCopy[elem.F32](atom, none, none).Slice(k.Thread) },
		"NewTiledMMA":         func(k *dsl.K) { dsl.NewTiledMMA(mma, dsl.Shape(1, 1)).Slice(k.Thread) },
		"CopyA":               func(k *dsl.K) { dsl.CopyA(atom, tiled).Slice(k.Thread) },
		"CopyAtomC":           func(k *dsl.K) { dsl.CopyAtomC[elem.F32](atom, tiled).Slice(k.Thread) },
		"CopyLikeS":           func(k *dsl.K) { dsl.CopyLikeS(atom, g2r{}).Slice(k.Thread) },
		"FragmentOfC":         func(*dsl.K) { dsl.FragmentOfC(dsl.ThrMMA[elem.F32, elem.F16, elem.F16, elem.F32]{}) },
		"FragmentOfA of none": func(*dsl.K) { dsl.FragmentOfA(tiled.Slice(dsl.Expr{}), none) },
		"Gemm":                func(*dsl.K) { dsl.Gemm(tiled, half, half, frag) },
		"Copy":                func(*dsl.K) { dsl.Copy(g2r{}, glob, frag) },
		"Copy of nothing":     func(*dsl.K) { dsl.Copy(load, glob, frag) },
		"TMALoad":             func(*dsl.K) { dsl.TMALoad(nil, glob, smem) },
		"TMALoad of zero":     func(*dsl.K) { dsl.TMALoad(&dsl.StageFill{}, glob, smem) },
		"Parts":               func(*dsl.K) { dsl.Parts(dsl.Tensor[dsl.Rmem, elem.C64]{}) },
		"Fill":                func(*dsl.K) { dsl.Fill(frag, 0) },
		"Slice of nil Var":    func(*dsl.K) { load.Slice((*dsl.Var)(nil)) },
		"Slice of nil":        func(*dsl.K) { load.Slice(nil) },
		"Tile":                func(k *dsl.K) { dsl.In[elem.F32](k, "Y", dsl.Shape(4)).Tile(dsl.Tiler{}, 0) },
		"In of none":          func(k *dsl.K) { dsl.In[elem.F32](k, "Y", none) },
		"Dim of nil":          func(k *dsl.K) { k.Dim("n", nil) },
		"Expect":              func(*dsl.K) { dsl.Expect(glob, 0, nil) },
		"Budget":              func(k *dsl.K) { k.Budget(dsl.Budget{}) },
		"ToVal":               func(*dsl.K) { dsl.ToVal[elem.F32](dsl.Expr{}) },
	} {
		err := kernel("k", use).Err()
		if err != nil {
			oneLine(t, err)
			require.Contains(t, err.Error(), "never_set_test.go:", name)
			require.NotContains(t, err.Error(), "invalid memory", name)
		}
	}
}
