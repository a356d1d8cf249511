package cuda

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/gocute/gocute/internal/dl"
)

// driver is the addresses of libcuda's functions.
type driver struct {
	path string

	init, driverGetVersion, getErrorName, getErrorString    uintptr
	deviceGetCount, deviceGet, deviceGetName, deviceGetAttr uintptr
	deviceTotalMem, primaryRetain, primaryRelease           uintptr
	ctxSetCurrent, ctxSynchronize, memGetInfo               uintptr
	memAlloc, memFree, memcpyHtoD, memcpyDtoH, memcpyDtoD   uintptr
	memsetD8, memsetD16, memsetD32, memsetD8Async           uintptr
	streamCreate, streamDestroy, streamSync, streamWait     uintptr
	streamQuery, eventCreate, eventDestroy, eventRecord     uintptr
	eventSync, eventElapsed, eventElapsed2                  uintptr
	moduleLoad, moduleUnload, moduleFunction, moduleGlobal  uintptr
	funcGetAttr, funcSetAttr, funcParamInfo, occupancy      uintptr
	launchKernel, launchKernelEx, tensorMapEncode           uintptr
}

// symbols pairs the driver's exported names with the fields of d. The _v2 names are those the C headers
// turn the plain ones into: the plain ones exist too, with 32-bit sizes.
func (d *driver) symbols() []dl.Sym {
	return []dl.Sym{
		{Name: "cuInit", Addr: &d.init},
		{Name: "cuDriverGetVersion", Addr: &d.driverGetVersion},
		{Name: "cuGetErrorName", Addr: &d.getErrorName},
		{Name: "cuGetErrorString", Addr: &d.getErrorString},
		{Name: "cuDeviceGetCount", Addr: &d.deviceGetCount},
		{Name: "cuDeviceGet", Addr: &d.deviceGet},
		{Name: "cuDeviceGetName", Addr: &d.deviceGetName},
		{Name: "cuDeviceGetAttribute", Addr: &d.deviceGetAttr},
		{Name: "cuDeviceTotalMem_v2", Addr: &d.deviceTotalMem},
		{Name: "cuDevicePrimaryCtxRetain", Addr: &d.primaryRetain},
		{Name: "cuDevicePrimaryCtxRelease_v2", Addr: &d.primaryRelease},
		{Name: "cuCtxSetCurrent", Addr: &d.ctxSetCurrent},
		{Name: "cuCtxSynchronize", Addr: &d.ctxSynchronize},
		{Name: "cuMemGetInfo_v2", Addr: &d.memGetInfo},
		{Name: "cuMemAlloc_v2", Addr: &d.memAlloc},
		{Name: "cuMemFree_v2", Addr: &d.memFree},
		{Name: "cuMemcpyHtoD_v2", Addr: &d.memcpyHtoD},
		{Name: "cuMemcpyDtoH_v2", Addr: &d.memcpyDtoH},
		{Name: "cuMemcpyDtoD_v2", Addr: &d.memcpyDtoD},
		{Name: "cuMemsetD8_v2", Addr: &d.memsetD8},
		{Name: "cuMemsetD16_v2", Addr: &d.memsetD16},
		{Name: "cuMemsetD32_v2", Addr: &d.memsetD32},
		{Name: "cuMemsetD8Async", Addr: &d.memsetD8Async},
		{Name: "cuStreamCreate", Addr: &d.streamCreate},
		{Name: "cuStreamDestroy_v2", Addr: &d.streamDestroy},
		{Name: "cuStreamSynchronize", Addr: &d.streamSync},
		{Name: "cuStreamWaitEvent", Addr: &d.streamWait},
		{Name: "cuStreamQuery", Addr: &d.streamQuery},
		{Name: "cuEventCreate", Addr: &d.eventCreate},
		{Name: "cuEventDestroy_v2", Addr: &d.eventDestroy},
		{Name: "cuEventRecord", Addr: &d.eventRecord},
		{Name: "cuEventSynchronize", Addr: &d.eventSync},
		{Name: "cuEventElapsedTime", Addr: &d.eventElapsed, Optional: true},     // up to CUDA 12.7, kept since
		{Name: "cuEventElapsedTime_v2", Addr: &d.eventElapsed2, Optional: true}, // since CUDA 12.8
		{Name: "cuModuleLoadDataEx", Addr: &d.moduleLoad},
		{Name: "cuModuleUnload", Addr: &d.moduleUnload},
		{Name: "cuModuleGetFunction", Addr: &d.moduleFunction},
		{Name: "cuModuleGetGlobal_v2", Addr: &d.moduleGlobal},
		{Name: "cuFuncGetAttribute", Addr: &d.funcGetAttr},
		{Name: "cuFuncSetAttribute", Addr: &d.funcSetAttr},
		{Name: "cuFuncGetParamInfo", Addr: &d.funcParamInfo, Optional: true}, // since CUDA 12.4
		{Name: "cuOccupancyMaxActiveBlocksPerMultiprocessor", Addr: &d.occupancy},
		{Name: "cuLaunchKernel", Addr: &d.launchKernel},
		{Name: "cuLaunchKernelEx", Addr: &d.launchKernelEx, Optional: true},        // since CUDA 11.8
		{Name: "cuTensorMapEncodeTiled", Addr: &d.tensorMapEncode, Optional: true}, // since CUDA 12.0
	}
}

// libraryNames are the places of the driver, in the order to try; the last is where WSL keeps it.
var libraryNames = []string{"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"}

// theDriver loads and initialises the driver once in the process.
var theDriver = sync.OnceValues(func() (*driver, error) { return openDriver(libraryNames) })

func openDriver(names []string) (*driver, error) {
	lib, err := dl.Open(names...)
	if err != nil {
		return nil, fmt.Errorf("%w: could not load libcuda.so.1, which the NVIDIA driver installs: %w", ErrNoDriver, err)
	}
	d := &driver{path: lib.Path()}
	if err := lib.Bind(d.symbols()); err != nil {
		return nil, fmt.Errorf("%w that is new enough (CUDA 11 or later): %w", ErrNoDriver, err)
	}
	if err := d.start(); err != nil {
		return nil, err
	}
	return d, nil
}

// start calls cuInit, sorting the failures that mean there is nothing to work with.
func (d *driver) start() error {
	if d.eventElapsed == 0 {
		d.eventElapsed = d.eventElapsed2
	}
	err := d.call("cuInit", d.init, 0)
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case NoDevice:
		return fmt.Errorf("%w: the driver (%s) sees no GPU; is one there, and does CUDA_VISIBLE_DEVICES hide it? %w", ErrNoDevice, d.path, err)
	case StubLibrary, DriverMismatch:
		return fmt.Errorf("%w that can run: %s does not match the kernel driver, or is the toolkit's stub: %w", ErrNoDriver, d.path, err)
	}
	return err
}

// call runs one driver function that needs no context. Its pointers stay valid as dl.Call says.
//
//go:uintptrescapes
func (d *driver) call(op string, fn uintptr, args ...uintptr) error {
	// CUresult is 32 bits wide; the upper half of the register is not defined.
	if r := Result(int32(dl.Call(fn, args...))); r != Success {
		return d.fail(r, op)
	}
	return nil
}

// Count is the number of CUDA devices; ErrNoDriver or ErrNoDevice where there are none.
func Count() (int, error) {
	d, err := theDriver()
	if err != nil {
		return 0, err
	}
	return d.count()
}

func (d *driver) count() (int, error) {
	var n int32
	if err := d.call("cuDeviceGetCount", d.deviceGetCount, uintptr(unsafe.Pointer(&n))); err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, fmt.Errorf("%w: the driver (%s) counts 0 devices", ErrNoDevice, d.path)
	}
	return int(n), nil
}

// DriverVersion is the newest CUDA version the driver supports, as 1000*major + 10*minor: 13000 is 13.0.
func DriverVersion() (int, error) {
	d, err := theDriver()
	if err != nil {
		return 0, err
	}
	var v int32
	err = d.call("cuDriverGetVersion", d.driverGetVersion, uintptr(unsafe.Pointer(&v)))
	return int(v), err
}
