package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/gocute/gocute/internal/dl"
)

// Device is a GPU with its primary context, which it shares with every other user of that GPU in the process.
type Device struct {
	drv     *driver
	ordinal int
	dev     int32
	ctx     uintptr
	ctxArgs []uintptr // the one argument of cuCtxSetCurrent, kept so that calls do not allocate
	info    Info
	closed  atomic.Bool
}

// Info is what a device is and how much of everything it has.
type Info struct {
	Name              string
	Major, Minor      int // the compute capability: 9 and 0 for sm_90
	SMs               int // streaming multiprocessors
	WarpSize          int
	MaxThreadsBlock   int
	MaxThreadsSM      int
	RegistersSM       int    // 32-bit registers of one multiprocessor
	SharedBlock       int    // bytes of shared memory a block may have without asking
	SharedBlockOptin  int    // bytes of shared memory a block may have at most
	SharedSM          int    // bytes of shared memory of one multiprocessor
	L2Bytes           int    // bytes of the level-2 cache
	ClockKHz          int    // peak clock of the multiprocessors; 0 where the driver does not say
	MemoryClockKHz    int    // peak clock of the memory; 0 where the driver does not say
	MemoryBusBits     int    // width of the memory bus
	MemoryBytes       uint64 // all of the device's memory
	CooperativeLaunch bool
}

// Arch is the device's architecture, such as "sm_90".
func (i Info) Arch() string { return fmt.Sprintf("sm_%d%d", i.Major, i.Minor) }

// Attribute is a number of the driver's CUdevice_attribute.
type Attribute int32

// The attributes that Info is made of.
const (
	AttrMaxThreadsPerBlock  Attribute = 1
	AttrSharedPerBlock      Attribute = 8
	AttrWarpSize            Attribute = 10
	AttrClockRate           Attribute = 13
	AttrMultiprocessorCount Attribute = 16
	AttrMemoryClockRate     Attribute = 36
	AttrMemoryBusWidth      Attribute = 37
	AttrL2CacheSize         Attribute = 38
	AttrMaxThreadsPerSM     Attribute = 39
	AttrMajor               Attribute = 75
	AttrMinor               Attribute = 76
	AttrSharedPerSM         Attribute = 81
	AttrRegistersPerSM      Attribute = 82
	AttrCooperativeLaunch   Attribute = 95
	AttrSharedPerBlockOptin Attribute = 97
	AttrClusterLaunch       Attribute = 120
)

// Open returns the device with the given ordinal, counted from 0, and retains its primary context.
// It returns ErrNoDriver or ErrNoDevice where there is none; Close releases it.
func Open(ordinal int) (*Device, error) {
	drv, err := theDriver()
	if err != nil {
		return nil, err
	}
	return drv.open(ordinal)
}

// OpenWith is Open on a driver that lookup gives: the addresses of its C functions by their exported names, 0 for one
// that it lacks. It is for tests that stand in for libcuda, and for layers over it.
func OpenWith(lookup func(name string) uintptr, ordinal int) (*Device, error) {
	if lookup == nil {
		return nil, errors.New("cuda: OpenWith expects a function that looks up the driver's, but got nil")
	}
	d := &driver{path: "given by the caller"}
	var missing []string
	for _, s := range d.symbols() {
		if *s.Addr = lookup(s.Name); *s.Addr == 0 && !s.Optional {
			missing = append(missing, s.Name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%w: the one given lacks %s", ErrNoDriver, strings.Join(missing, ", "))
	}
	if err := d.start(); err != nil {
		return nil, err
	}
	return d.open(ordinal)
}

func (d *driver) open(ordinal int) (*Device, error) {
	n, err := d.count()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= n {
		return nil, fmt.Errorf("%w number %d: expected one of 0 to %d", ErrNoDevice, ordinal, n-1)
	}
	dev := &Device{drv: d, ordinal: ordinal}
	if err := d.call("cuDeviceGet", d.deviceGet, uintptr(unsafe.Pointer(&dev.dev)), uintptr(ordinal)); err != nil {
		return nil, annotate(err, "of device %d", ordinal)
	}
	if err := dev.readInfo(); err != nil {
		return nil, err
	}
	err = d.call("cuDevicePrimaryCtxRetain", d.primaryRetain, uintptr(unsafe.Pointer(&dev.ctx)), uintptr(dev.dev))
	if err != nil {
		return nil, annotate(err, "of device %d (%s)", ordinal, dev.info.Name)
	}
	dev.ctxArgs = []uintptr{dev.ctx}
	return dev, nil
}

// readInfo fills d.info.
func (d *Device) readInfo() error {
	i := &d.info
	var coop int
	for _, row := range []struct {
		attr     Attribute
		to       *int
		optional bool // newer drivers may stop answering
	}{
		{AttrMajor, &i.Major, false},
		{AttrMinor, &i.Minor, false},
		{AttrMultiprocessorCount, &i.SMs, false},
		{AttrWarpSize, &i.WarpSize, false},
		{AttrMaxThreadsPerBlock, &i.MaxThreadsBlock, false},
		{AttrMaxThreadsPerSM, &i.MaxThreadsSM, false},
		{AttrRegistersPerSM, &i.RegistersSM, false},
		{AttrSharedPerBlock, &i.SharedBlock, false},
		{AttrSharedPerBlockOptin, &i.SharedBlockOptin, false},
		{AttrSharedPerSM, &i.SharedSM, false},
		{AttrL2CacheSize, &i.L2Bytes, false},
		{AttrClockRate, &i.ClockKHz, true},
		{AttrMemoryClockRate, &i.MemoryClockKHz, true},
		{AttrMemoryBusWidth, &i.MemoryBusBits, true},
		{AttrCooperativeLaunch, &coop, true},
	} {
		v, err := d.Attribute(row.attr)
		if err != nil && !row.optional {
			return err
		}
		*row.to = v
	}
	i.CooperativeLaunch = coop != 0

	name := make([]byte, 256)
	if err := d.drv.call("cuDeviceGetName", d.drv.deviceGetName,
		uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(d.dev)); err != nil {
		return annotate(err, "of device %d", d.ordinal)
	}
	i.Name = cString(name)
	err := d.drv.call("cuDeviceTotalMem_v2", d.drv.deviceTotalMem, uintptr(unsafe.Pointer(&i.MemoryBytes)), uintptr(d.dev))
	return err
}

// Attribute asks the driver for one number about the device; 0 with the error where it does not know it.
func (d *Device) Attribute(a Attribute) (int, error) {
	if err := d.live("Attribute"); err != nil {
		return 0, err
	}
	var v int32
	err := d.drv.call("cuDeviceGetAttribute", d.drv.deviceGetAttr, uintptr(unsafe.Pointer(&v)), uintptr(uint32(a)), uintptr(d.dev))
	if err != nil {
		return 0, annotate(err, "%d of device %d", a, d.ordinal)
	}
	return int(v), nil
}

// Info is what the device is; it was read when the device was opened. That of a nil Device is the zero Info.
func (d *Device) Info() Info {
	if d == nil {
		return Info{}
	}
	return d.info
}

// Ordinal is the number the device was opened with; -1 for one that does not come from Open.
func (d *Device) Ordinal() int {
	if d == nil || d.drv == nil {
		return -1
	}
	return d.ordinal
}

// String is the device's name and architecture.
func (d *Device) String() string {
	if d == nil || d.drv == nil {
		return "no device"
	}
	return d.info.Name + " (" + d.info.Arch() + ")"
}

// live refuses a device that does not come from Open, or was closed.
func (d *Device) live(op string) error {
	switch {
	case d == nil:
		return fmt.Errorf("cuda: %s expects a device from Open, but got nil", op)
	case d.drv == nil:
		return fmt.Errorf("cuda: %s expects a device from Open, but got an empty Device", op)
	case d.closed.Load():
		return fmt.Errorf("%w: %s on device %d", ErrClosed, op, d.ordinal)
	}
	return nil
}

// same refuses what belongs to another device's context. Two Devices of one GPU share the context.
func (d *Device) same(op, what string, other *Device) error {
	if d == other || d.ctx == other.ctx {
		return nil
	}
	return fmt.Errorf("cuda: %s on device %d expects %s of the same device, but got one of device %d", op, d.ordinal, what, other.ordinal)
}

// Close releases the primary context. When the last holder in the process does, the driver frees the
// device's memory and modules; buffers, modules, streams and events made with d cannot be used from then on. A second
// Close, and that of a nil Device, do nothing.
func (d *Device) Close() error {
	if d == nil || d.drv == nil || d.closed.Swap(true) {
		return nil
	}
	return d.drv.call("cuDevicePrimaryCtxRelease_v2", d.drv.primaryRelease, uintptr(d.dev))
}

// enter makes d's context current on this thread and keeps the goroutine on it until exit.
func (d *Device) enter() error {
	if d == nil || d.drv == nil || d.closed.Load() {
		return d.live("a call")
	}
	runtime.LockOSThread()
	if r := Result(int32(dl.CallFrame(d.drv.ctxSetCurrent, d.ctxArgs))); r != Success {
		runtime.UnlockOSThread()
		return d.drv.fail(r, "cuCtxSetCurrent")
	}
	return nil
}

func (d *Device) exit() { runtime.UnlockOSThread() }

// call runs one driver function with d's context current.
//
//go:uintptrescapes
func (d *Device) call(op string, fn uintptr, args ...uintptr) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.exit()
	return d.drv.call(op, fn, args...)
}

// Do runs f on one thread with the device's context current, for calls into other CUDA libraries.
func (d *Device) Do(f func() error) error {
	if err := d.live("Do"); err != nil {
		return err
	}
	if f == nil {
		return errors.New("cuda: Do expects a function, but got nil")
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.exit()
	return f()
}

// Synchronize waits for all work on the device's context. It reports errors of kernels launched before.
func (d *Device) Synchronize() error {
	if err := d.live("Synchronize"); err != nil {
		return err
	}
	return d.call("cuCtxSynchronize", d.drv.ctxSynchronize)
}

// MemInfo is the free and the total memory of the device in bytes.
func (d *Device) MemInfo() (free, total uint64, err error) {
	if err := d.live("MemInfo"); err != nil {
		return 0, 0, err
	}
	var m [2]uint64
	err = d.call("cuMemGetInfo_v2", d.drv.memGetInfo, uintptr(unsafe.Pointer(&m[0])), uintptr(unsafe.Pointer(&m[1])))
	return m[0], m[1], err
}
