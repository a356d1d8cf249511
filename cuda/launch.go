package cuda

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/gocute/gocute/internal/dl"
)

// Dim3 is the extents of a grid or a block. A Y or Z of 0 stands for 1.
type Dim3 struct{ X, Y, Z uint32 }

// D1, D2 and D3 make a Dim3 of one, two and three extents.
func D1(x int) Dim3       { return Dim3{uint32(x), 1, 1} }
func D2(x, y int) Dim3    { return Dim3{uint32(x), uint32(y), 1} }
func D3(x, y, z int) Dim3 { return Dim3{uint32(x), uint32(y), uint32(z)} }

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
func (a *Args) overlapping(f *Function, cfg LaunchConfig, stream uintptr) []uintptr {
	a.ex = launchEx{
		grid:   [3]uint32{cfg.Grid.X, max(cfg.Grid.Y, 1), max(cfg.Grid.Z, 1)},
		block:  [3]uint32{cfg.Block.X, max(cfg.Block.Y, 1), max(cfg.Block.Z, 1)},
		shared: uint32(cfg.Shared), stream: stream,
		attrs: uintptr(unsafe.Pointer(&a.ex.id)), count: 1, id: overlapAttribute,
	}
	a.ex.value[0] = 1
	a.frame[0], a.frame[1], a.frame[2], a.frame[3] = uintptr(unsafe.Pointer(&a.ex)), f.h, a.pointers(), 0
	return a.frame[:4]
}

func orOne(n uint32) uintptr { return uintptr(max(n, 1)) }

// Launch puts the kernel on the stream and returns without waiting; a nil args means no arguments. It
// allocates nothing. Errors while the kernel runs are reported by a later call that waits. The arguments are copied, so
// args may be reused when it returns; the memory they point to must live until the kernel is done.
func (f *Function) Launch(cfg LaunchConfig, args *Args) error {
	if args == nil {
		args = NewArgs()
	}
	if f.checked {
		if err := f.checkArgs(args); err != nil {
			return err
		}
	}
	stream, err := cfg.Stream.queue("Launch")
	if cfg.Grid.X == 0 || cfg.Block.X == 0 || f.mod.h == 0 || err != nil {
		return f.refuse(cfg, err)
	}
	if int64(cfg.Shared) > f.shared.Load() {
		if err := f.raiseShared(cfg.Shared); err != nil {
			return err
		}
	}
	call, frame := f.dev.drv.launchKernel, args.frame[:]
	args.frame = [launchWords]uintptr{
		f.h,
		uintptr(cfg.Grid.X), orOne(cfg.Grid.Y), orOne(cfg.Grid.Z),
		uintptr(cfg.Block.X), orOne(cfg.Block.Y), orOne(cfg.Block.Z),
		uintptr(cfg.Shared), stream, args.pointers(), 0,
	}
	if cfg.Overlap && f.dev.drv.launchKernelEx != 0 && f.dev.info.Major >= 9 {
		call, frame = f.dev.drv.launchKernelEx, args.overlapping(f, cfg, stream)
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

// refuse says what is wrong with a launch that the driver need not see.
func (f *Function) refuse(cfg LaunchConfig, err error) error {
	if err != nil {
		return fmt.Errorf("kernel %s: %w", f.name, err)
	}
	if f.mod.h == 0 {
		return fmt.Errorf("%w: Launch of %s, whose module was unloaded", ErrClosed, f.name)
	}
	return fmt.Errorf("cuda: Launch expects a grid and a block of at least 1 in X, but got %s", f.describe(cfg))
}

func (f *Function) describe(cfg LaunchConfig) string {
	g, b := cfg.Grid, cfg.Block
	return fmt.Sprintf("%s<<<(%d,%d,%d), (%d,%d,%d), %d bytes>>>", f.name,
		g.X, orOne(g.Y), orOne(g.Z), b.X, orOne(b.Y), orOne(b.Z), cfg.Shared)
}
