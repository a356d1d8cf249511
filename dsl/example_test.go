package dsl_test

import (
	"fmt"

	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// The tiled copy of the CuTe tutorials: 4x8 threads, each with four adjacent f32 of a row.
func ExampleNewTiledCopy() {
	c := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](128), Shape(4, 8).Strides(8, 1), Shape(1, 4).Strides(4, 1))
	fmt.Println(c.Threads(), c.LayoutS())
	// Output: 32 ((8,4),(4,1)):((16,1),(4,0))
}

// A layout that does not cover its tile is refused with the counts.
func ExampleNewTiledCopyTV_refused() {
	c := NewTiledCopyTV[elem.F16](atoms.SM80_CP_ASYNC_CACHEALWAYS_U128, Shape(128, 8), Shape(128, 128))
	fmt.Println(c.Err())
	// Output: TV layout (128,8):(1,128) has 128 threads x 8 values = 1024 places, which cover 1024 of the 16384 elements of the tile (128,128); the first one missing is element 1024
}

// Two warps along M and two along N share the elements of A: a thread mode of stride 0.
func ExampleNewTiledMMA() {
	m := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(2, 2, 1))
	fmt.Println(m.Tile())
	fmt.Println(m.LayoutA())
	// Output:
	// 32 16 16
	// ((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))
}

// A mistake is one line, and what depends on it stays silent.
func ExampleKernel_Err() {
	k := Define("wrong", func(k *K) {
		a := In[elem.F32](k, "A", Shape(4, 32)) // column by column: the four values of a thread are not adjacent
		k.Threads(32)
		load := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](128), Shape(4, 8).Strides(8, 1), Shape(1, 4))
		part := load.Slice(k.Thread).PartitionS(a)
		Copy(load, part, FragmentLike(part))
	})
	err := k.Err().(interface{ Unwrap() []error }).Unwrap()[0].(*Error)
	fmt.Println(err.Op, err.Text)
	// Output: Copy mode 0 of the source tAA expects 4 adjacent elements (128 bits, for UniversalCopy<u128>), but element 1 is 4 away from the first: layout ((4,1),1,1):((4,0),0,0)
}
