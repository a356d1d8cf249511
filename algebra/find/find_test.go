package find

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
)

// TestSwizzle: the swizzles that CUTLASS uses for f16 tiles come out, and the result is counted word by word again.
func TestSwizzle(t *testing.T) {
	for _, c := range []struct {
		layout, want string
		bits         int64
	}{
		{"(8,64):(64,1)", "Sw<3,3,3>", 16},
		{"(64,64):(64,1)", "Sw<3,3,3>", 16},
		{"(8,32):(32,1)", "Sw<2,3,3>", 16},
		{"(64,8):(1,64)", "Sw<3,3,3>", 16},
		{"(8,32):(32,1)", "Sw<3,2,3>", 32},
		{"(128,128):(128,1)", "Sw<3,3,4>", 16},
		{"(16,16):(16,1)", "Sw<1,3,3>", 16},
		{"(8,8):(8,1)", "Sw<0,0,0>", 16},
	} {
		l := algebra.MustParse(c.layout)
		rows, err := Rows(l, c.bits)
		require.NoError(t, err)
		r, err := Swizzle(l, c.bits, []Access{rows})
		require.NoError(t, err, c.layout)
		require.Equal(t, c.want, r.Swizzle.String(), "%s\n%s", c.layout, r.Reason)
		require.True(t, Free(r.After))
		for _, p := range rows.Phases {
			banks := map[int64]bool{}
			for _, x := range p {
				for b := range int64(16) {
					banks[(r.Layout.AtInt(x)*c.bits/8+b)/4%32] = true
				}
			}
			require.Len(t, banks, 32, "a phase of 128 bytes touches every bank once")
		}
	}
}

// TestPadding: the pad is the least that works.
func TestPadding(t *testing.T) {
	l := algebra.MustParse("(64,64):(64,1)")
	rows, err := Rows(l, 16)
	require.NoError(t, err)
	r, err := Padding(l, 16, []Access{rows})
	require.NoError(t, err)
	require.EqualValues(t, 8, r.Pad)
	require.Equal(t, "(64,64):(72,1)", r.Layout.String())
	_, err = Padding(algebra.MustParse("((8,8),64):((64,512),1)"), 16, []Access{rows})
	require.Error(t, err)
}

// TestSwizzleForStores: a swizzle serves the rows of ldmatrix and the stores of a copy together.
func TestSwizzleForStores(t *testing.T) {
	l := algebra.MustParse("(64,64):(64,1)")
	rows, err := Rows(l, 16)
	require.NoError(t, err)
	c, err := ThreadValues(Goal{Tile: l.Shape(), Bits: 16, Vector: 128, Threads: 128, Across: 1})
	require.NoError(t, err)
	tv, err := onTile(c, l.Shape())
	require.NoError(t, err)
	stores, err := Vectors("stores", tv, 16, 8)
	require.NoError(t, err)
	r, err := Swizzle(l, 16, []Access{rows, stores})
	require.NoError(t, err)
	require.Equal(t, "Sw<3,3,3>", r.Swizzle.String())
	require.Contains(t, r.Reason, "8-way before")
	_, err = Swizzle(r.Layout, 16, []Access{rows})
	require.Error(t, err, "it is swizzled already")
}

// TestThreadValues: each element of the tile is moved once, in vectors along the contiguous mode.
func TestThreadValues(t *testing.T) {
	for _, g := range []Goal{
		{algebra.S(128, 64), 16, 128, 256, 1}, {algebra.S(128, 32), 16, 128, 128, 1}, {algebra.S(64, 128), 32, 128, 256, 0},
		{algebra.S(128, 8), 32, 64, 64, 1}, {algebra.S(32, 96), 16, 128, 96, 1}, {algebra.S(16, 16), 8, 128, 16, 0},
	} {
		c, err := ThreadValues(g)
		require.NoError(t, err, "%+v", g)
		tv, err := onTile(c, g.Tile)
		require.NoError(t, err)
		picture, _ := algebra.GridTV(tv, g.Tile)
		seen := map[int64]int{}
		n, _ := tv.IntSize()
		for r := range repeats(c, g.Tile) {
			for i := range n {
				seen[r+tv.AtInt(i)]++
			}
		}
		size, _ := g.Tile.IntSize()
		require.Len(t, seen, int(size), "%+v", g)
		for at, k := range seen {
			require.Equal(t, 1, k, "coordinate %d\n%s", at, picture)
			require.Less(t, at, size)
		}
		require.True(t, Free(c.Shared.After), c.Shared.Reason)
	}
	for _, g := range []Goal{
		{algebra.S(128, 60), 16, 128, 256, 1}, {algebra.S(10, 64), 16, 128, 256, 1}, {algebra.S(128, 64), 16, 128, 0, 1},
		{algebra.S(128, 64), 12, 128, 64, 1}, {algebra.S(128), 16, 128, 64, 1},
	} {
		_, err := ThreadValues(g)
		require.Error(t, err, "%+v", g)
	}
}

// TestTooLarge: what no shared memory holds is refused before its elements are counted.
func TestTooLarge(t *testing.T) {
	const want = "116224 elements of 16 bits, which a block's 232448 bytes of shared memory hold"
	big := algebra.MustParse("(1048576,1048576):(1048576,1)")
	_, err := Rows(big, 16)
	require.ErrorContains(t, err, want)
	_, err = Swizzle(big, 16, nil)
	require.ErrorContains(t, err, want)
	_, err = Padding(big, 16, nil)
	require.ErrorContains(t, err, want)
	_, err = Vectors("stores", algebra.MustParse("(1048576,1048576):(1,1)"), 16, 8)
	require.ErrorContains(t, err, want)
	_, err = ThreadValues(Goal{Tile: big.Shape(), Bits: 16, Vector: 128, Threads: 256})
	require.ErrorContains(t, err, want)
}

// TestNegativeOffsets: arrays begin at their lowest offset, so layouts below 0 are refused.
func TestNegativeOffsets(t *testing.T) {
	l := algebra.MustParse("(64,64):(-64,1)")
	rows, err := Rows(l, 16)
	require.NoError(t, err)
	_, err = Swizzle(l, 16, []Access{rows})
	require.ErrorContains(t, err, "(64,64):(-64,1) has -64 at coordinate 1")
	_, err = Padding(l, 16, []Access{rows})
	require.ErrorContains(t, err, "(64,64):(-64,1) has -64 at coordinate 1")
}

// TestVectorsInTile: the values of a vector are side by side, and all of them in the tile.
func TestVectorsInTile(t *testing.T) {
	rows, columns := algebra.MustParse("(64,64):(64,1)"), algebra.MustParse("(64,64):(1,64)")
	for _, c := range []struct {
		l    algebra.Layout
		tv   string
		want string
	}{
		{rows, "((8,16),8):((512,1),64)", ""}, {columns, "((8,16),8):((8,64),1)", ""}, {rows, "((8,16),(8,2)):((512,1),(64,16))", ""},
		{rows, "((8,16),8):((512,1),99999)", "expected coordinates in the tile (64,64), from 0 to 4095, but thread 0 has value 1 at 99999"},
		{rows, "((8,16),8):((512,1),0)", "expected the 8 values of a vector side by side in the tile (64,64), where the contiguous mode goes on by 64, but thread 0 has value 0 at coordinate 0 and value 1 at 0, not at 64"},
		{rows, "((8,16),8):((512,1),1)", "value 1 at 1, not at 64"}, {columns, "((8,16),8):((8,64),64)", "value 1 at 64, not at 1"},
		{rows, "((8,16),8):((512,1),-64)", "thread 0 has value 1 at -64"}, {rows, "((8,65),8):((512,1),64)", "but thread 519 has value 7 at 4096"},
		{rows, "((8,16),(8,2)):((512,1),(64,4096))", "thread 0 has value 8 at 4096"}, {rows, "((8,16),8):((512,1),4611686018427387904)", "but thread 0 has value 1 at 4611686018427387904"},
	} {
		tv, err := algebra.Parse(c.tv)
		require.NoError(t, err)
		a, err := Vectors("stores", tv, 16, 8)
		if err == nil {
			_, err = Swizzle(c.l, 16, []Access{a})
			_, err2 := Padding(c.l, 16, []Access{a})
			require.Equal(t, err == nil, err2 == nil, "%s: %v, %v", c.tv, err, err2)
		}
		if c.want == "" {
			require.NoError(t, err, c.tv)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
}

// TestGoals: what is expected of vectors and threads is told with what came.
func TestGoals(t *testing.T) {
	for want, g := range map[string]Goal{
		"expected a vector of 8, 16, 32, 64 or 128 bits that holds whole elements of 16, but got 256 bits": {algebra.S(128, 64), 16, 256, 128, 1},
		"expected a vector of 8, 16, 32, 64 or 128 bits that holds whole elements of 16, but got 96 bits":  {algebra.S(128, 96), 16, 96, 128, 1},
		"expected a vector of 8, 16, 32, 64 or 128 bits that holds whole elements of 16, but got 8 bits":   {algebra.S(128, 96), 16, 8, 128, 1},
		"expected 1 to 1024 threads, as many as a block has, but got 4096":                                 {algebra.S(128, 64), 16, 128, 4096, 1},
		"expected mode 0 or 1 as the contiguous one, but got 2":                                            {algebra.S(128, 64), 16, 128, 128, 2},
	} {
		_, err := ThreadValues(g)
		require.EqualError(t, err, want)
	}
	_, err := Vectors("stores", algebra.MustParse("(32,6):(6,1)"), 16, 6)
	require.ErrorContains(t, err, "but got 96 bits")
}

// The offsets have to fit shared memory too, not the number of elements alone.
func TestOffsetsBeyondSharedMemory(t *testing.T) {
	for _, text := range []string{"(64,64):(1000000000000,1)", "(16,8):(1,9223372036854775807)", "(64,8):(1,65536)"} {
		l := algebra.MustParse(text)
		_, err := Rows(l, 16)
		require.ErrorContains(t, err, "shared memory hold, but the largest offset of "+text)
	}
	l := algebra.MustParse("(8,2048):(2048,1)") // as it is, it fits
	a, err := Rows(l, 32)
	require.NoError(t, err)
	for _, search := range []func(algebra.Layout, int64, []Access) (Result, error){Swizzle, Padding} {
		r, err := search(l, 32, []Access{a})
		if err == nil {
			require.Less(t, largest(r.Layout), int64(sharedMost/4), "%s", r.Layout)
		}
	}
	_, err = Rows(algebra.MustParse("(8,7264):(7264,1)"), 32) // all of shared memory
	require.NoError(t, err)
	b, err := Rows(algebra.MustParse("(8,7264):(7264,1)"), 32)
	require.NoError(t, err)
	_, err = Padding(algebra.MustParse("(8,7264):(7264,1)"), 32, []Access{b})
	require.Error(t, err, "nothing is left to pad with")
}
