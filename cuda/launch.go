package cuda

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/gocute/gocute/internal/dl"
)

// Dim3 is the extents of a grid or a block. A Y or Z of 0 stands for 1. Launch checks them against the hardware's limits.
type Dim3 struct{ X, Y, Z int }

// D1, D2 and D3 make a Dim3 of one, two and three extents.
func D1(x int) Dim3       { return Dim3{x, 1, 1} }
func D2(x, y int) Dim3    { return Dim3{x, y, 1} }
func D3(x, y, z int) Dim3 { return Dim3{x, y, z} }

// The limits of grids and blocks, the same on all architectures that gocute knows.
var (
	mostBlocks  = Dim3{1<<31 - 1, 1<<16 - 1, 1<<16 - 1}
	mostThreads = Dim3{1024, 1024, 64}
)

// ones puts 1 where a Y or Z of 0 stands for it.
func (d Dim3) ones() Dim3 {
	if d.Y == 0 {
		d.Y = 1
	}
	if d.Z == 0 {
		d.Z = 1
	}
	return d
}

// within reports whether all extents, ones included, are at least 1 and no more than those of most.
func (d Dim3) within(most *Dim3) bool {
	return d.X >= 1 && d.X <= most.X && d.Y >= 1 && d.Y <= most.Y && d.Z >= 1 && d.Z <= most.Z
}

// LaunchConfig is how a kernel is launched. Its zero fields are the default stream and no dynamic shared memory.
type LaunchConfig struct {
	Grid, Block Dim3
	Shared      int     // bytes of dynamic shared memory of a block
	Stream      *Stream // nil is the default stream

	// Overlap lets the kernel start before the one before it on the stream has ended, where the device can (sm_90). The
	// kernel itself must wait for it (griddepcontrol.wait) before it touches memory.
	Overlap bool
}

// launchEx is what cuLaunchKernelEx reads: CUlaunchConfig and one CUlaunchAttribute.
type launchEx struct {
	grid, block   [3]uint32
	shared        uint32
	_             uint32
	stream, attrs uintptr
	count         uint32
	_             uint32

	id    uint32
	_     uint32
	value [8]uint64
}

// overlapAttribute is CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION.
const overlapAttribute = 6

// overlapping fills in the launch and returns cuLaunchKernelEx's arguments.
func (a *Args) overlapping(f *Function, cfg *LaunchConfig, stream uintptr) []uintptr {
	a.ex = launchEx{
		grid:   [3]uint32{uint32(cfg.Grid.X), uint32(cfg.Grid.Y), uint32(cfg.Grid.Z)},
		block:  [3]uint32{uint32(cfg.Block.X), uint32(cfg.Block.Y), uint32(cfg.Block.Z)},
		shared: uint32(cfg.Shared), stream: stream,
		attrs: uintptr(unsafe.Pointer(&a.ex.id)), count: 1, id: overlapAttribute,
	}
	a.ex.value[0] = 1
	a.frame[0], a.frame[1], a.frame[2], a.frame[3] = uintptr(unsafe.Pointer(&a.ex)), f.h, a.pointers(), 0
	return a.frame[:4]
}

// Launch puts the kernel on the stream and returns without waiting; a nil args means no arguments. It
// allocates nothing. Errors while the kernel runs are reported by a later call that waits. The arguments are copied, so
// args may be reused when it returns; the memory they point to must live until the kernel is done.
//
// It is an error, and nothing is launched, if the kernel's module was unloaded, the stream was closed or is another
// device's, the grid, the block or the shared memory is beyond what the device can have, or the arguments are not as many
// and as wide as the kernel's (drivers before CUDA 12.4 cannot tell these).
func (f *Function) Launch(cfg LaunchConfig, args *Args) error {
	if err := f.live("Launch"); err != nil {
		return err
	}
	if args == nil {
		args = NewArgs()
	}
	if args.free || args.err != nil {
		return fmt.Errorf("kernel %s: %w", f.name, args.Err())
	}
	if f.checked {
		if err := f.checkArgs(args); err != nil {
			return err
		}
	}
	stream, err := cfg.Stream.queue("Launch", f.dev)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", f.name, err)
	}
	cfg.Grid, cfg.Block = cfg.Grid.ones(), cfg.Block.ones()
	if !cfg.Grid.within(&mostBlocks) || !cfg.Block.within(&mostThreads) || cfg.threads() > f.dev.info.MaxThreadsBlock || cfg.Shared < 0 {
		return f.refuse(cfg)
	}
	if int64(cfg.Shared) > f.shared.Load() {
		if err := f.raiseShared(cfg.Shared); err != nil {
			return err
		}
	}
	call, frame := f.dev.drv.launchKernel, args.frame[:]
	args.frame = [launchWords]uintptr{
		f.h,
		uintptr(cfg.Grid.X), uintptr(cfg.Grid.Y), uintptr(cfg.Grid.Z),
		uintptr(cfg.Block.X), uintptr(cfg.Block.Y), uintptr(cfg.Block.Z),
		uintptr(cfg.Shared), stream, args.pointers(), 0,
	}
	if cfg.Overlap && f.dev.drv.launchKernelEx != 0 && f.dev.info.Major >= 9 {
		call, frame = f.dev.drv.launchKernelEx, args.overlapping(f, &cfg, stream)
	}
	if err := f.dev.enter(); err != nil {
		return err
	}
	r := Result(int32(dl.CallFrame(call, frame)))
	f.dev.exit()
	// The frame holds addresses inside args as plain words, so the collector must be told.
	runtime.KeepAlive(args)
	if r != Success {
		return f.dev.drv.fail(r, "cuLaunchKernel "+f.describe(cfg))
	}
	return nil
}

// threads is those of a block whose extents are within the limits.
func (cfg *LaunchConfig) threads() int { return cfg.Block.X * cfg.Block.Y * cfg.Block.Z }

// refuse says what is wrong with a launch that the driver need not see.
func (f *Function) refuse(cfg LaunchConfig) error {
	what := fmt.Sprintf("a grid of 1 to (%d,%d,%d) blocks", mostBlocks.X, mostBlocks.Y, mostBlocks.Z)
	switch {
	case !cfg.Grid.within(&mostBlocks):
	case !cfg.Block.within(&mostThreads):
		what = fmt.Sprintf("a block of 1 to (%d,%d,%d) threads", mostThreads.X, mostThreads.Y, mostThreads.Z)
	case cfg.Shared < 0:
		what = "0 or more bytes of shared memory"
	default:
		what = fmt.Sprintf("a block of at most %d threads, which %s can have", f.dev.info.MaxThreadsBlock, f.dev)
	}
	return fmt.Errorf("cuda: Launch expects %s, but got %s", what, f.describe(cfg))
}

func (f *Function) describe(cfg LaunchConfig) string {
	g, b := cfg.Grid, cfg.Block
	return fmt.Sprintf("%s<<<(%d,%d,%d), (%d,%d,%d), %d bytes>>>", f.name, g.X, g.Y, g.Z, b.X, b.Y, b.Z, cfg.Shared)
}
