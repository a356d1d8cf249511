//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/elem"
)

// quiet are the methods without an error, and those that do nothing on what is nil or closed already.
var quiet = []string{"Close", "Free", "Unload", "Release"}

// exported lists the package's exported functions, and its methods as Type.Method, by its source.
func exported(t *testing.T) (functions, methods map[string]bool) {
	t.Helper()
	functions, methods = map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			if fn.Recv == nil {
				functions[fn.Name.Name] = true
				continue
			}
			typ := fn.Recv.List[0].Type
			if p, ok := typ.(*ast.StarExpr); ok {
				typ = p.X
			}
			if g, ok := typ.(*ast.IndexExpr); ok {
				typ = g.X
			}
			if name := typ.(*ast.Ident).Name; ast.IsExported(name) {
				methods[name+"."+fn.Name.Name] = true
			}
		}
	}
	return functions, methods
}

// subject is a receiver and what is the matter with it.
type subject struct {
	state string
	v     any
	sound bool // its methods may succeed
}

// subjects are receivers of every exported type, in every state but a sound one.
func subjects(t *testing.T) (all []subject) {
	other := func() *Device { _, d := openFake(t); return d }
	_, d, fn := loadFake(t, 8, 4)
	b, err := Alloc[elem.F32](d, 8)
	require.NoError(t, err)
	part, err := b.Slice(2, 6)
	require.NoError(t, err)
	inner, err := part.Slice(1, 2)
	require.NoError(t, err)
	require.NoError(t, b.Free())
	s, err := d.NewStream()
	require.NoError(t, err)
	e, err := d.NewEvent()
	require.NoError(t, err)
	_, _, another := loadFake(t)
	released := another.Args()
	released.Release()
	require.NoError(t, fn.Module().Unload())
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())

	lost := other() // all that was made with a device that is closed
	lb, err := Alloc[elem.F32](lost, 8)
	require.NoError(t, err)
	lv, err := lb.Slice(0, 4)
	require.NoError(t, err)
	lm, err := lost.LoadData([]byte("ptx"))
	require.NoError(t, err)
	lf, err := lm.Function("add")
	require.NoError(t, err)
	ls, err := lost.NewStream()
	require.NoError(t, err)
	le, err := lost.NewEvent()
	require.NoError(t, err)
	require.NoError(t, lost.Close())

	for _, state := range []struct {
		name string
		all  []any
	}{
		{"nil", []any{(*Device)(nil), (*Buffer[elem.F32])(nil), (*Module)(nil), (*Function)(nil), (*Stream)(nil), (*Event)(nil), (*Args)(nil)}},
		{"zero", []any{&Device{}, &Buffer[elem.F32]{}, &Module{}, &Function{}, &Stream{}, &Event{}}},
		{"closed", []any{lost, b, fn.Module(), fn, s, e, released}},
		{"a slice of freed memory", []any{part, inner}},
		{"of a closed device", []any{lb, lv, lm, lf, ls, le}},
	} {
		for _, v := range state.all {
			all = append(all, subject{state.name, v, false})
		}
	}
	for _, v := range []any{&Args{}, Info{}, Image{}, &Error{}, (*TensorMapSpec)(nil), &TensorMapSpec{Rank: math.MinInt}, &TensorMapSpec{Rank: math.MaxInt}} {
		all = append(all, subject{"zero", v, true})
	}
	return all
}

// values are arguments of a type, the worst that there are.
func values(typ reflect.Type) []reflect.Value {
	out := []reflect.Value{reflect.Zero(typ)}
	switch typ.Kind() {
	case reflect.Int, reflect.Int64:
		for _, n := range []int64{-1, math.MinInt64, math.MaxInt64, 1<<32 + 1} {
			out = append(out, reflect.ValueOf(n).Convert(typ))
		}
	case reflect.Int32:
		out = append(out, reflect.ValueOf(int32(-1)).Convert(typ))
	case reflect.String:
		out = append(out, reflect.ValueOf("a\x00b").Convert(typ))
	case reflect.Pointer:
		out = append(out, reflect.New(typ.Elem()))
	case reflect.Slice:
		out = append(out, reflect.MakeSlice(typ, 3, 3))
	}
	return out
}

// calls lists all combinations of values for a function's parameters, up to a number.
func calls(typ reflect.Type) [][]reflect.Value {
	lists := [][]reflect.Value{nil}
	for i := range typ.NumIn() {
		var next [][]reflect.Value
		for _, l := range lists {
			for _, v := range values(typ.In(i)) {
				next = append(next, append(append([]reflect.Value(nil), l...), v))
			}
		}
		lists = next[:min(len(next), 200)]
	}
	return lists
}

// answer calls f, and returns what it panicked with, whether it has an error at all, and that.
func answer(f reflect.Value, args []reflect.Value) (panicked any, has bool, err error) {
	defer func() { panicked = recover() }()
	call := f.Call
	if f.Type().IsVariadic() {
		call = f.CallSlice
	}
	for _, v := range call(args) {
		if v.Type() == reflect.TypeFor[error]() {
			has = true
			err, _ = v.Interface().(error)
		}
	}
	return nil, has, err
}

// TestContractOfMethods: every exported method, on receivers that are nil, empty, closed or of freed memory, answers with
// an error if it has one, and never with a panic or a call that the driver must not get.
func TestContractOfMethods(t *testing.T) {
	_, left := exported(t)
	for _, s := range subjects(t) {
		v := reflect.ValueOf(s.v)
		typ := v.Type()
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			name := strings.TrimPrefix(strings.TrimPrefix(typ.String(), "*"), "cuda.")
			name, _, _ = strings.Cut(name, "[")
			name += "." + m.Name
			delete(left, name)
			for _, args := range calls(v.Method(i).Type()) {
				panicked, has, err := answer(v.Method(i), args)
				require.Nil(t, panicked, "%s %s(%v)", s.state, name, args)
				if has && !s.sound && !slices.Contains(quiet, m.Name) && name != "Stream.Handle" {
					require.Error(t, err, "%s %s(%v)", s.state, name, args)
					require.NotContains(t, err.Error(), "cuLaunch", "%s %s", s.state, name)
				}
			}
		}
	}
	require.Empty(t, left, "exported methods that no subject has")
}

// TestContractOfFunctions: so do the exported functions. Each is here, with what must be refused of it.
func TestContractOfFunctions(t *testing.T) {
	left, _ := exported(t)
	_, d := openFake(t)
	_, closed := openFake(t)
	require.NoError(t, closed.Close())
	for name, f := range map[string]func(d *Device) error{
		"Alloc":    func(d *Device) error { _, err := Alloc[elem.F64](d, 3); return err },
		"View":     func(d *Device) error { _, err := View[elem.F64](d, 8, 3); return err },
		"FromHost": func(d *Device) error { _, err := FromHost(d, []elem.F32{1}); return err },
	} {
		delete(left, name)
		for _, bad := range []*Device{nil, {}, closed} {
			assert.Error(t, f(bad), name)
		}
	}
	for name, err := range map[string]error{
		"Open":     second(Open(-1)),
		"OpenWith": second(OpenWith(nil, 0)),
		"Pack":     second(Pack(nil)),
		"Alloc":    second(Alloc[elem.F64](d, math.MaxInt)),
		"Alloc -1": second(Alloc[elem.F64](d, -1)),
		"View n":   second(View[elem.F64](d, 8, math.MaxInt)),
		"View -1":  second(View[elem.F64](d, 8, -1)),
		"View 0":   second(View[elem.F64](d, 0, 1)),
		"View p":   second(View[elem.F64](d, 12, 1)),
		"View end": second(View[elem.F64](d, 1<<64-8, 1)),
		"Put":      Put(nil, elem.F32(1)).Err(),
	} {
		delete(left, name)
		assert.Error(t, err, name)
	}
	freed, err := Alloc[elem.F32](d, 1)
	require.NoError(t, err)
	require.NoError(t, freed.Free())
	for _, bad := range []any{freed, (*Buffer[elem.F32])(nil), (*TensorMap)(nil), 7, 7.5 + 1i, struct{}{}} {
		_, err := Pack(bad)
		assert.Error(t, err, "%T", bad)
	}
	_, _ = Count() // whatever this machine has
	_, _ = DriverVersion()
	for _, n := range []int{0, -1, math.MinInt, math.MaxInt} {
		assert.Equal(t, [3]Dim3{{n, 1, 1}, {n, n, 1}, {n, n, n}}, [3]Dim3{D1(n), D2(n, n), D3(n, n, n)})
	}
	require.Zero(t, NewArgs().Len())
	for _, name := range []string{"Count", "DriverVersion", "D1", "D2", "D3", "NewArgs"} {
		delete(left, name)
	}
	require.Empty(t, left, "exported functions that this test does not call")
}

func second[T any](_ T, err error) error { return err }

// TestLaunchLimits: what the hardware has no room for is refused, and nothing of it is cut to 32 bits.
func TestLaunchLimits(t *testing.T) {
	f, _, fn := loadFake(t)
	for want, cfg := range map[string]LaunchConfig{
		"a grid of 1 to (2147483647,65535,65535) blocks, but got add<<<(4294967297,1,1)": {Grid: D1(1<<32 + 1), Block: D1(32)},
		"a grid of 1 to (2147483647,65535,65535) blocks, but got add<<<(-1,1,1)":         {Grid: D1(-1), Block: D1(32)},
		"but got add<<<(1,65536,1)":       {Grid: D2(1, 65536), Block: D1(32)},
		"but got add<<<(1,1,-5)":          {Grid: D3(1, 1, -5), Block: D1(32)},
		"a block of 1 to (1024,1024,64)":  {Grid: D1(1), Block: D1(1<<32 + 32)},
		"but got add<<<(1,1,1), (1,1,65)": {Grid: D1(1), Block: D3(1, 1, 65)},
		"at most 1024 threads":            {Grid: D1(1), Block: D2(64, 32)},
		"0 or more bytes":                 {Grid: D1(1), Block: D1(1), Shared: -1},
		"expected 0 to 232448 bytes":      {Grid: D1(1), Block: D1(1), Shared: 1<<32 + 1},
	} {
		require.ErrorContains(t, fn.Launch(cfg, nil), want, fmt.Sprint(cfg))
	}
	require.Zero(t, f.calls["cuLaunchKernel"])
	require.NoError(t, fn.Launch(LaunchConfig{Grid: D3(1<<31-1, 65535, 65535), Block: D3(4, 4, 64), Shared: 232448}, nil))
	_, err := fn.BlocksPerSM(1<<32+32, 0)
	require.ErrorContains(t, err, "1 to 1024 threads")
	_, err = fn.BlocksPerSM(32, -1)
	require.ErrorContains(t, err, "0 to 232448 bytes of shared memory")
}

// TestForeignThings: what belongs to another device is refused before the driver mistakes it for its own.
func TestForeignThings(t *testing.T) {
	f, drv := newFake(t)
	f.strict = true
	require.NoError(t, drv.start())
	one, err := drv.open(0)
	require.NoError(t, err)
	two, err := drv.open(1)
	require.NoError(t, err)
	again, err := drv.open(0) // shares the context of one
	require.NoError(t, err)
	m, err := one.LoadData([]byte("ptx"))
	require.NoError(t, err)
	fn, err := m.Function("add")
	require.NoError(t, err)
	s, err := two.NewStream()
	require.NoError(t, err)
	same, err := again.NewStream()
	require.NoError(t, err)
	cfg := LaunchConfig{Grid: D1(1), Block: D1(1), Stream: s}
	require.ErrorContains(t, fn.Launch(cfg, nil), "Launch on device 0 expects a stream of the same device, but got one of device 1")
	cfg.Stream = same
	require.NoError(t, fn.Launch(cfg, nil))
	a, err := Alloc[elem.F32](one, 4)
	require.NoError(t, err)
	b, err := Alloc[elem.F32](two, 4)
	require.NoError(t, err)
	require.ErrorContains(t, a.CopyBuffer(b), "expects a buffer of the same device")
	require.ErrorContains(t, a.ZeroOn(s), "expects a stream of the same device")
	e, err := one.NewEvent()
	require.NoError(t, err)
	e2, err := two.NewEvent()
	require.NoError(t, err)
	require.ErrorContains(t, e.Record(s), "expects a stream of the same device")
	_, err = e.Since(e2)
	require.ErrorContains(t, err, "expects a start of the same device")
	require.NoError(t, again.Close())
	require.ErrorIs(t, fn.Launch(cfg, nil), ErrClosed)
}

// TestImagesAreWhole: the driver is not told how long an image is, so one that is cut off must not reach it.
func TestImagesAreWhole(t *testing.T) {
	f, d := openFake(t)
	for _, im := range images(t) {
		_, err := d.LoadData(im.Data)
		require.NoError(t, err, im)
		if im.PTX {
			continue
		}
		loads := f.calls["cuModuleLoadDataEx"]
		for n := 4; n < len(im.Data); n += 1 + n/16 {
			_, err := d.LoadData(im.Data[:n])
			require.ErrorContains(t, err, "expects a cubin, a fatbin or PTX, but got", "%s cut to %d", im, n)
		}
		require.Equal(t, loads, f.calls["cuModuleLoadDataEx"])
	}
	for _, bad := range []string{"", ".version 7.0\x00rest", "\x50\xed\x55\xba\x01\x00\x10\x00\xff\x00\x00\x00\x00\x00\x00\x00", "\x50\xed\x55\xba", "\x7fELF"} {
		_, err := d.LoadData([]byte(bad))
		require.ErrorContains(t, err, "expects a cubin, a fatbin or PTX", "%q", bad)
	}
	m, err := d.LoadData([]byte("ptx"))
	require.NoError(t, err)
	_, err = m.Function("add\x00more")
	require.ErrorContains(t, err, `a name without NUL, but got "add\x00more"`)
}

// TestReleaseTwice: a list that is given back twice does not become two users' at once.
func TestReleaseTwice(t *testing.T) {
	_, _, fn := loadFake(t)
	a := fn.Args()
	a.Release()
	a.Release()
	require.NotSame(t, fn.Args(), fn.Args())
	require.ErrorIs(t, func() error {
		x := fn.Args()
		x.Release()
		return fn.Launch(LaunchConfig{Grid: D1(1), Block: D1(1)}, x.I32(1))
	}(), ErrClosed)
}

// TestOverlaps: copies within one allocation.
func TestOverlaps(t *testing.T) {
	_, d := openFake(t)
	b, err := Alloc[elem.F32](d, 10)
	require.NoError(t, err)
	part := func(lo, hi int) *Buffer[elem.F32] {
		v, err := b.Slice(lo, hi)
		require.NoError(t, err)
		return v
	}
	require.ErrorContains(t, part(0, 6).CopyBuffer(part(4, 10)), "buffers that do not overlap")
	require.NoError(t, part(0, 5).CopyBuffer(part(5, 10)))
	require.NoError(t, b.CopyBuffer(b))
	_, err = b.Slice(math.MaxInt, math.MinInt)
	require.Error(t, err)
	require.ErrorContains(t, part(1, 2).CopyBuffer(part(3, 5)), "expects 1 elements")
	require.NoError(t, part(3, 3).Zero())
	require.Zero(t, (&Buffer[elem.F32]{}).Len())
}
