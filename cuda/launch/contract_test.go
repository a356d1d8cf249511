//go:build linux && (amd64 || arm64)

package launch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

// exported lists the package's exported functions and methods by its source.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				typ := fn.Recv.List[0].Type
				if p, ok := typ.(*ast.StarExpr); ok {
					typ = p.X
				}
				if !typ.(*ast.Ident).IsExported() {
					continue
				}
				name = typ.(*ast.Ident).Name + "." + name
			}
			out[name] = true
		}
	}
	return out
}

// TestContractOfMethods: every exported method, on a nil and an empty receiver and with empty arguments, answers with an
// error if it has one, and never with a panic.
func TestContractOfMethods(t *testing.T) {
	left := exported(t)
	for _, recv := range []any{(*Kernel)(nil), &Kernel{}, (*Call)(nil), &Call{}, (*Maps)(nil), &Maps{}, (*Exact)(nil), &Exact{}, Grid{}, Grid{-1, math.MinInt, 1}, Bundle{}} {
		v := reflect.ValueOf(recv)
		for i := range v.NumMethod() {
			m := v.Type().Method(i)
			name := v.Type().String()
			name = name[strings.LastIndex(name, ".")+1:] + "." + m.Name
			delete(left, name)
			var args []reflect.Value
			for j := range v.Method(i).Type().NumIn() {
				args = append(args, reflect.Zero(v.Method(i).Type().In(j)))
			}
			var out []reflect.Value
			require.NotPanics(t, func() { out = v.Method(i).Call(args) }, name)
			for _, r := range out {
				if r.Type() == reflect.TypeFor[error]() && m.Name != "Close" && m.Name != "Images" && !strings.HasPrefix(name, "Exact.") {
					require.False(t, r.IsNil(), "%T %s answers nil", recv, name)
				}
			}
		}
	}
	for name := range left {
		if strings.Contains(name, ".") {
			t.Errorf("no receiver has the exported method %s", name)
		}
	}
}

// TestContractOfFunctions: so do the exported functions. Each is here.
func TestContractOfFunctions(t *testing.T) {
	left := exported(t)
	dev, _ := encoding(t)
	gone, _ := encoding(t)
	lost, err := cuda.View[elem.F32](gone, 64, 100)
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	empty := &cuda.Buffer[elem.F32]{}
	none := (*cuda.Buffer[elem.F32])(nil)
	call := func(f func(c *Call)) error {
		c := Call{k: &Kernel{name: "k", dev: dev}, args: cuda.NewArgs()}
		f(&c)
		return c.err
	}
	k := &Kernel{name: "k", dev: dev}
	for name, err := range map[string]error{
		"NilArgs":            NilArgs("k"),
		"NotLoaded":          NotLoaded("k"),
		"Unmet":              Unmet("k", "rule"),
		"CheckDim":           CheckDim("k", "M", 4, 0, 8, 0),
		"CheckDim low":       CheckDim("k", "M", math.MinInt64, 0, 8, 1),
		"NewGrid":            func() error { _, err := NewGrid("k", math.MaxInt64, 1, 1); return err }(),
		"CheckBuffer":        CheckBuffer("k", "A", none, 1, "1", 16),
		"CheckBuffer empty":  CheckBuffer("k", "A", empty, 1, "1", 16),
		"CheckBuffer lost":   CheckBuffer("k", "A", lost, 1, "1", 16),
		"CheckBuffer align":  CheckBuffer("k", "A", lost, 1, "1", 0),
		"Buffer":             call(func(c *Call) { Buffer(c, "A", lost) }),
		"TensorMap":          call(func(c *Call) { TensorMap(c, "A", lost, row(0, 100)) }),
		"TensorMap no spec":  call(func(c *Call) { TensorMap(c, "A", none, nil) }),
		"TensorMap no tens.": call(func(c *Call) { TensorMap(c, "A", none, row(0, 100)) }),
		"Dim":                call(func(c *Call) { c.Dim(1<<32 + 1) }),
		"Dim low":            call(func(c *Call) { c.Dim(math.MinInt) }),
		"Append args":        k.maps.Append(nil, dev, row(16, 1)),
		"Append dev":         k.maps.Append(cuda.NewArgs(), nil, row(16, 1)),
		"Append spec":        k.maps.Append(cuda.NewArgs(), dev, nil),
	} {
		require.Error(t, err, name)
		delete(left, name)
	}
	require.ErrorIs(t, CheckBuffer("k", "A", lost, 1, "1", 16), cuda.ErrClosed)
	require.NoError(t, CheckDisjoint("k", "A", none, "B", lost))
	require.NoError(t, CheckDisjoint("k", "A", lost, "B", lost), "what cannot be used overlaps nothing, and is refused itself")
	for _, c := range []*Call{nil, {}} {
		Scalar(c, elem.F32(1))
		Buffer(c, "A", none)
		TensorMap(c, "A", none, nil)
	}
	for _, name := range []string{"CheckDisjoint", "Scalar"} {
		delete(left, name)
	}
	for name := range left {
		if !strings.Contains(name, ".") {
			t.Errorf("this test does not call %s", name)
		}
	}
}

// TestSlicesOfFreedMemory: a launcher refuses them, and a Call launches once.
func TestSlicesOfFreedMemory(t *testing.T) {
	dev := working(t)
	b, err := cuda.Alloc[elem.F32](dev, 64)
	require.NoError(t, err)
	part, err := b.Slice(4, 36)
	require.NoError(t, err)
	inner, err := part.Slice(4, 20)
	require.NoError(t, err)
	odd, err := b.Slice(1, 33)
	require.NoError(t, err)
	require.NoError(t, CheckBuffer("k", "A", inner, 16, "16", 16))
	require.ErrorContains(t, CheckBuffer("k", "A", odd, 16, "16", 16), "an address that is a multiple of 16 bytes")
	m, err := dev.LoadData([]byte("ptx"))
	require.NoError(t, err)
	fn, err := m.Function("k")
	require.NoError(t, err)
	k := &Kernel{name: "k", dev: dev, mod: m, fn: fn, threads: 32}
	start := func() error {
		c := k.Begin("k")
		Buffer(&c, "A", inner)
		err := c.Launch(nil, Grid{1, 1, 1})
		require.Error(t, c.Launch(nil, Grid{1, 1, 1}), "a Call launches once")
		return err
	}
	require.NoError(t, start())
	require.NoError(t, b.Free())
	require.ErrorIs(t, CheckBuffer("k", "A", inner, 16, "16", 16), cuda.ErrClosed)
	require.ErrorIs(t, start(), cuda.ErrClosed)
	require.NoError(t, k.Close())
	inner = nil
	require.ErrorIs(t, start(), cuda.ErrClosed)
}
