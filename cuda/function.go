package cuda

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Function is a kernel of a module.
type Function struct {
	dev     *Device
	mod     *Module
	h       uintptr
	name    string
	pool    *sync.Pool
	params  []int // the parameters' sizes in bytes
	checked bool  // params is known
	shared  atomic.Int64
	raise   sync.Mutex
}

// FunctionAttributes is what the compiler made of a kernel.
type FunctionAttributes struct {
	Registers        int // 32-bit registers of a thread
	LocalBytes       int // bytes of local memory of a thread: spills and arrays that are indexed at run time
	StaticShared     int // bytes of shared memory of a block, without the dynamic part
	ConstBytes       int
	MaxThreadsBlock  int // the most threads a block can have, for its registers
	MaxDynamicShared int // bytes of dynamic shared memory a launch may ask for as things are
	PTXVersion       int // 10*major + minor of the PTX's architecture
	BinaryVersion    int // 10*major + minor of the machine code's architecture
}

// The numbers of the driver's CUfunction_attribute.
const (
	fnMaxThreads = iota
	fnStaticShared
	fnConstBytes
	fnLocalBytes
	fnRegisters
	fnPTXVersion
	fnBinaryVersion
	_
	fnMaxDynamicShared
)

// defaultShared is how many bytes of dynamic shared memory every kernel may use without asking for more.
const defaultShared = 48 << 10

// Name is the kernel's name in its module; empty for a nil Function.
func (f *Function) Name() string {
	if f == nil {
		return ""
	}
	return f.name
}

// Module is where the kernel comes from; nil for a nil Function.
func (f *Function) Module() *Module {
	if f == nil {
		return nil
	}
	return f.mod
}

// live refuses a kernel that does not come from Module.Function, or whose module was unloaded.
func (f *Function) live(op string) error {
	switch {
	case f == nil:
		return fmt.Errorf("cuda: %s expects a kernel from Module.Function, but got nil", op)
	case f.mod == nil:
		return fmt.Errorf("cuda: %s expects a kernel from Module.Function, but got an empty Function", op)
	case f.mod.h.Load() == 0:
		return fmt.Errorf("%w: %s of %s, whose module was unloaded", ErrClosed, op, f.name)
	}
	return f.dev.live(op)
}

// Args is an empty list of arguments for the kernel, recycled from those released before. That of a nil Function is a
// new one.
func (f *Function) Args() *Args {
	if f == nil || f.pool == nil {
		return NewArgs()
	}
	a := f.pool.Get().(*Args)
	a.free = false
	return a.Reset()
}

// Attributes asks the driver what the compiler made of the kernel.
func (f *Function) Attributes() (FunctionAttributes, error) {
	var a FunctionAttributes
	if err := f.live("Attributes"); err != nil {
		return a, err
	}
	for _, row := range []struct {
		attr int
		to   *int
	}{
		{fnRegisters, &a.Registers},
		{fnLocalBytes, &a.LocalBytes},
		{fnStaticShared, &a.StaticShared},
		{fnConstBytes, &a.ConstBytes},
		{fnMaxThreads, &a.MaxThreadsBlock},
		{fnMaxDynamicShared, &a.MaxDynamicShared},
		{fnPTXVersion, &a.PTXVersion},
		{fnBinaryVersion, &a.BinaryVersion},
	} {
		var v int32
		err := f.dev.call("cuFuncGetAttribute", f.dev.drv.funcGetAttr, uintptr(unsafe.Pointer(&v)), uintptr(row.attr), f.h)
		if err != nil {
			return a, annotate(err, "%d of %s", row.attr, f.name)
		}
		*row.to = int(v)
	}
	return a, nil
}

// SetMaxDynamicShared lets launches use up to so many bytes of dynamic shared memory. Launch does it by
// itself when it needs more than before; doing it once beforehand finds a device that has too little early.
func (f *Function) SetMaxDynamicShared(bytes int) error {
	if err := f.live("SetMaxDynamicShared"); err != nil {
		return err
	}
	if most := f.dev.info.SharedBlockOptin; bytes < 0 || bytes > most {
		return fmt.Errorf("cuda: kernel %s: expected 0 to %d bytes of shared memory, which a block on %s can have, but got %d", f.name, most, f.dev, bytes)
	}
	f.raise.Lock()
	defer f.raise.Unlock()
	return f.setShared(bytes)
}

// raiseShared is SetMaxDynamicShared unless as much is allowed already: of launches that need different
// amounts at the same time, the smaller must not take from the larger.
func (f *Function) raiseShared(bytes int) error {
	if bytes > f.dev.info.SharedBlockOptin {
		return f.SetMaxDynamicShared(bytes) // says what is wrong
	}
	f.raise.Lock()
	defer f.raise.Unlock()
	if int64(bytes) <= f.shared.Load() {
		return nil
	}
	return f.setShared(bytes)
}

func (f *Function) setShared(bytes int) error {
	err := f.dev.call("cuFuncSetAttribute", f.dev.drv.funcSetAttr, f.h, fnMaxDynamicShared, uintptr(bytes))
	if err != nil {
		return annotate(err, "to %d bytes of dynamic shared memory for %s", bytes, f.name)
	}
	f.shared.Store(int64(bytes))
	return nil
}

// BlocksPerSM is how many blocks of so many threads and bytes of dynamic shared memory one multiprocessor runs at a time.
// More than 48 KiB count only after SetMaxDynamicShared.
func (f *Function) BlocksPerSM(threads, sharedBytes int) (int, error) {
	if err := f.live("BlocksPerSM"); err != nil {
		return 0, err
	}
	if info := &f.dev.info; threads < 1 || threads > info.MaxThreadsBlock || sharedBytes < 0 || sharedBytes > info.SharedBlockOptin {
		return 0, fmt.Errorf("cuda: kernel %s: expected blocks of 1 to %d threads and 0 to %d bytes of shared memory, which %s can have, but got %d and %d",
			f.name, info.MaxThreadsBlock, info.SharedBlockOptin, f.dev, threads, sharedBytes)
	}
	var n int32
	err := f.dev.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", f.dev.drv.occupancy,
		uintptr(unsafe.Pointer(&n)), f.h, uintptr(threads), uintptr(sharedBytes))
	if err != nil {
		return 0, annotate(err, "for %s with %d threads and %d bytes of dynamic shared memory", f.name, threads, sharedBytes)
	}
	return int(n), nil
}

// readParams learns the parameters' sizes where the driver can tell, so that Launch can check its arguments.
func (f *Function) readParams() {
	if f.dev.drv.funcParamInfo == 0 {
		return
	}
	const most = 4096 // no kernel has as many: its parameters have 32 KiB at most
	var sizes []int
	for i := range most {
		var where [2]uint64 // offset and size
		err := f.dev.call("cuFuncGetParamInfo", f.dev.drv.funcParamInfo, f.h, uintptr(i),
			uintptr(unsafe.Pointer(&where[0])), uintptr(unsafe.Pointer(&where[1])))
		if err == nil {
			sizes = append(sizes, int(where[1]))
			continue
		}
		// An index past the end is an invalid value; anything else means the driver cannot tell.
		e, ok := err.(*Error)
		f.checked = ok && e.Code == InvalidValue
		break
	}
	f.params = sizes
}

// Params is the sizes in bytes of the kernel's parameters, and whether the driver could tell them
// (from CUDA 12.4 on).
func (f *Function) Params() (sizes []int, known bool) {
	if f == nil {
		return nil, false
	}
	return append([]int(nil), f.params...), f.checked
}

// checkArgs compares a with the kernel's parameters.
func (f *Function) checkArgs(a *Args) error {
	same := len(a.spans) == len(f.params)
	for i := 0; same && i < len(a.spans); i++ {
		same = a.spans[i].bytes == f.params[i]
	}
	if same {
		return nil
	}
	got := make([]int, len(a.spans))
	for i, s := range a.spans {
		got[i] = s.bytes
	}
	return fmt.Errorf("%w: kernel %s: expected %d of %v bytes, but got %d of %v", ErrArgs, f.name, len(f.params), f.params, len(got), got)
}
