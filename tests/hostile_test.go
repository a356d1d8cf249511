package tests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
)

// hostileNames are no names, for some reader of the emitted files.
var hostileNames = []string{"", " ", "a b", "if", "1x", "ä", "日本", "x;y", "x\n", "x\ry", "x\x00", "\xff", "\x1b[31m", "\u202ex",
	"a/../b", "../x", "C:\\x", "$(reboot)", "`id`", "</script>", "]]>", "%s%n", "a.b", "-x", "tid", strings.Repeat("x", 10000)}

// TestHostileNames gives every function that takes a name one that is none: an error of one short line at the call.
func TestHostileNames(t *testing.T) {
	for op, use := range map[string]func(k *dsl.K, name string){
		"Dim":    func(k *dsl.K, name string) { k.Dim(name) },
		"In":     func(k *dsl.K, name string) { dsl.In[elem.F32](k, name, dsl.Shape(32)) },
		"Out":    func(k *dsl.K, name string) { dsl.Out[elem.F32](k, name, dsl.Shape(32)) },
		"InOut":  func(k *dsl.K, name string) { dsl.InOut[elem.F32](k, name, dsl.Shape(32)) },
		"Scalar": func(k *dsl.K, name string) { dsl.Scalar[elem.F32](k, name) },
		"Shared": func(k *dsl.K, name string) { dsl.Shared[elem.F32](k, name, dsl.Shape(32)) },
		"Let":    func(k *dsl.K, name string) { k.Let(name, k.Thread) },
		"Opaque": func(k *dsl.K, name string) { k.Opaque(name, k.Thread) },
		"Var":    func(k *dsl.K, name string) { k.Var(name, 0, 0, 9) },
	} {
		for _, name := range hostileNames {
			if (name == "tid" || name == "if") && (op == "Let" || op == "Opaque" || op == "Var") {
				continue // a number is put behind those
			}
			err := kernel("k", func(k *dsl.K) { use(k, name) }).Err()
			require.Error(t, err, "%s(%q)", op, name)
			oneLine(t, err)
			require.Contains(t, err.Error(), "hostile_test.go:")
			require.Contains(t, err.Error(), ": k: "+op+": ")
		}
	}
}

func kernel(name string, body func(k *dsl.K)) *dsl.Kernel {
	return dsl.Define(name, func(k *dsl.K) {
		x := dsl.InOut[elem.F32](k, "X", dsl.Shape(32, 32))
		k.Threads(32)
		_ = x
		body(k)
	})
}

// oneLine holds an error to what a terminal and a log can show.
func oneLine(t *testing.T, err error) {
	t.Helper()
	require.NotRegexp(t, "[\x00-\x1f\x7f-\u009f\u202e\ufffd]", err.Error())
	require.Less(t, len(err.Error()), 600)
	require.NotContains(t, err.Error(), "internal error")
}

func TestHostileKernelNames(t *testing.T) {
	for _, name := range hostileNames {
		err := kernel(name, func(k *dsl.K) {}).Err()
		require.ErrorContains(t, err, "Define: expects a name that is an identifier in C and Go", "%q", name)
		oneLine(t, err)
		err = (&dsl.Family{Name: name, Candidates: []dsl.Candidate{{Config: name, Kernel: nil}}}).Err()
		require.Error(t, err, "%q", name)
	}
	require.NoError(t, kernel(strings.Repeat("x", 100), func(k *dsl.K) {}).Err())
}

// TestHostileTexts lets texts through that the printers make harmless, and refuses those that are too long.
func TestHostileTexts(t *testing.T) {
	for _, text := range hostileNames {
		k := kernel("texts", func(k *dsl.K) { k.Doc(text); k.Comment(text); k.Comment(text + "\rint evil;") })
		require.NoError(t, k.Err())
		out, err := gen.Lower(k)
		require.NoError(t, err, "%q", text)
		require.NotNil(t, out)
	}
	long := strings.Repeat("x", 10<<20)
	for op, use := range map[string]func(k *dsl.K){
		"Doc":     func(k *dsl.K) { k.Doc(long) },
		"Comment": func(k *dsl.K) { k.Comment(long) },
		"Require": func(k *dsl.K) { k.Require(k.Dim("M").Lt(4), long) },
	} {
		err := kernel("k", use).Err()
		require.ErrorContains(t, err, op+": expects texts of at most 65536 bytes, but got 10485760: ")
		oneLine(t, err)
	}
	err := kernel("k", func(k *dsl.K) {
		for range 10 {
			k.Doc(long[:10000])
		}
	}).Err()
	require.ErrorContains(t, err, "Doc: expects texts of at most 65536 bytes, but got 70000: ")
}

// TestHostilePanics turns what a user's function panics with into one line at the user's line.
func TestHostilePanics(t *testing.T) {
	var none *struct{ extents []int }
	for name, f := range map[string]func(k *dsl.K){
		"nil pointer":  func(k *dsl.K) { k.Loop(0, none.extents[0], func(dsl.Expr) {}) },
		"escape":       func(k *dsl.K) { panic("\x1b[2J\r\nX: fine") },
		"long":         func(k *dsl.K) { panic(strings.Repeat("\n", 1<<20)) },
		"nil":          func(k *dsl.K) { panic(nil) },
		"in a Map":     func(k *dsl.K) { inMap(k, func() { panic("no") }) },
		"nil K":        func(k *dsl.K) { dsl.In[elem.F32](nil, "A", dsl.Shape(32)) },
		"nil K, again": func(k *dsl.K) { dsl.Shared[elem.F32](nil, "A", dsl.Shape(32)) },
		"zero tensor":  func(k *dsl.K) { var a dsl.Tensor[dsl.Gmem, elem.F32]; a.At(0) },
		"zero copy": func(k *dsl.K) {
			var c dsl.TiledCopy[dsl.Gmem, dsl.Smem, elem.F32]
			x := dsl.In[elem.F32](k, "A", dsl.Shape(32))
			c.Slice(k.Thread).PartitionS(x)
		},
		"nil thread": func(k *dsl.K) { var v *dsl.Var; dsl.In[elem.F32](k, "A", dsl.Shape(32)).At(v) },
	} {
		t.Run(name, func(t *testing.T) {
			err := kernel("k", f).Err()
			require.Error(t, err)
			require.Contains(t, err.Error(), "hostile_test.go:")
			require.NotRegexp(t, "[\x00-\x1f]", err.Error())
			require.NotContains(t, err.Error(), "internal error")
		})
	}
}

// inMap calls f whenever the function of a Map runs.
func inMap(k *dsl.K, f func()) {
	x := dsl.InOut[elem.F32](k, "Y", dsl.Shape(32, 32)).Tile(dsl.Tile(32, 1), 0, k.Thread)
	dsl.Map(x, x, func(v dsl.Val[elem.F32]) dsl.Val[elem.F32] { f(); return v })
}

// TestMapAgain is a function that does not do the same when lowering calls it.
func TestMapAgain(t *testing.T) {
	calls := 0
	k := kernel("k", func(k *dsl.K) {
		inMap(k, func() {
			if calls++; calls > 1 {
				panic("second call")
			}
		})
	})
	require.NoError(t, k.Err())
	_, err := gen.Lower(k)
	require.ErrorContains(t, err, "the function given to this operation panicked when it was called again: second call")
	require.ErrorContains(t, err, "hostile_test.go:")
	oneLine(t, err)
}

func TestNoKernel(t *testing.T) {
	for _, k := range []*dsl.Kernel{nil, {}} {
		require.Empty(t, k.Name())
		_, err := gen.Generate(k, gen.Options{})
		require.EqualError(t, err, "expects a kernel that Define made, but got nil or the zero Kernel")
	}
}

// TestVarIsAnIndex uses a Var, and a pointer to one, wherever an Expr can stand.
func TestVarIsAnIndex(t *testing.T) {
	k := kernel("k", func(k *dsl.K) {
		n := k.Dim("N")
		a := dsl.InOut[elem.F32](k, "A", dsl.Shape(32, n))
		v := k.Var("v", 0, 0, 31)
		w := k.Var("w", k.Thread, 0, 31)
		a.At(v, 0)
		a.At(&v, &w)
		a.Tile(dsl.Tile(32, 1), 0, v)
		a.Within(1, v)
		dsl.Coord(a, 0, v, &v)
		k.Loop(v, &v, func(i dsl.Expr) { v.Set(i.Add(v).Min(&w).Mul(0)) })
		k.If(v.Lt(&w).And(w.Eq(v)), func() {}, nil)
		k.Let("l", v)
		k.Let("m", uint8(3))
		dsl.ToVal[elem.S32](v)
		dsl.ToVal[elem.S32](&v)
		k.Switch(v, 32, func(int) {})
	})
	require.NoError(t, k.Err())
	_, err := gen.Lower(k)
	require.NoError(t, err)
}

// TestNoIndex says what came where an index was expected.
func TestNoIndex(t *testing.T) {
	for want, x := range map[string]any{
		"an integer, an Expr or a Var, but got nil":                            nil,
		"an integer of 63 bits, an Expr or a Var, but got 1.5 of type float64": 1.5,
		"but got a Val: elements of tensors cannot be indices":                 dsl.Lit[elem.F32](1),
		"but got a value of type string":                                       "x",
		"but got 18446744073709551615 of type uint64":                          uint64(1<<64 - 1),
		"a value, but got an Expr that was never set":                          (*dsl.Var)(nil),
	} {
		err := kernel("k", func(k *dsl.K) { k.Let("l", x) }).Err()
		require.ErrorContains(t, err, want)
		oneLine(t, err)
	}
}
