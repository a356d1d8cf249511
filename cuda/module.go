package cuda

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Module is code loaded on a device.
type Module struct {
	dev   *Device
	h     atomic.Uintptr // 0 once unloaded
	image Image          // without its data
}

// The numbers of the driver's CUjit_option that LoadData uses.
const (
	jitInfoLog      = 3
	jitInfoLogSize  = 4
	jitErrorLog     = 5
	jitErrorLogSize = 6
)

const logBytes = 16 << 10

// jit is the options of one load, in one piece of memory so that it is kept alive as a whole.
type jit struct {
	keys     [4]uint32
	values   [4]uintptr // pointers, or sizes in the place of pointers
	errorLog [logBytes]byte
	infoLog  [logBytes]byte
}

func newJIT() *jit {
	j := &jit{keys: [4]uint32{jitErrorLog, jitErrorLogSize, jitInfoLog, jitInfoLogSize}}
	j.values = [4]uintptr{
		uintptr(unsafe.Pointer(&j.errorLog[0])), logBytes - 1,
		uintptr(unsafe.Pointer(&j.infoLog[0])), logBytes - 1,
	}
	return j
}

// LoadData loads one image: a cubin, a fatbin, or the text of PTX, which the driver compiles.
// When it fails, the *Error's Log holds what the compiler said.
func (d *Device) LoadData(image []byte) (*Module, error) {
	if err := d.live("LoadData"); err != nil {
		return nil, err
	}
	if err := checkImage(image); err != nil {
		return nil, err
	}
	// The driver takes PTX up to a NUL, and reads a cubin's words where they lie: so copy, aligned and terminated.
	data := make([]byte, len(image)+1)
	copy(data, image)
	j := newJIT()
	var h uintptr
	err := d.call("cuModuleLoadDataEx", d.drv.moduleLoad,
		uintptr(unsafe.Pointer(&h)), uintptr(unsafe.Pointer(&data[0])),
		uintptr(len(j.keys)), uintptr(unsafe.Pointer(&j.keys[0])), uintptr(unsafe.Pointer(&j.values[0])))
	runtime.KeepAlive(j)
	if e, ok := err.(*Error); ok {
		if e.Log = cString(j.errorLog[:]); e.Log == "" {
			e.Log = cString(j.infoLog[:])
		}
	}
	if err != nil {
		return nil, annotate(err, "of %d bytes on %s", len(image), d)
	}
	m := &Module{dev: d}
	m.h.Store(h)
	return m, nil
}

// forcePTX is the environment variable that makes LoadModule take PTX even where a cubin fits.
const forcePTX = "GOCUTE_FORCE_PTX"

// LoadModule loads the image that suits the device best: a cubin of its architecture family, else PTX.
// With GOCUTE_FORCE_PTX=1 in the environment it takes PTX only. It returns ErrNoImage, with what
// was there and what the device needs, when none fits.
func (d *Device) LoadModule(images []Image) (*Module, error) {
	if err := d.live("LoadModule"); err != nil {
		return nil, err
	}
	i, err := choose(images, d.info.Major, d.info.Minor, os.Getenv(forcePTX) == "1")
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, d)
	}
	m, err := d.LoadData(images[i].Data)
	if err != nil {
		return nil, fmt.Errorf("loading the image %s: %w", images[i], err)
	}
	m.image = Image{Arch: images[i].Arch, PTX: images[i].PTX}
	return m, nil
}

// Image tells which image LoadModule took, without its data; it is empty after LoadData.
func (m *Module) Image() Image {
	if m == nil {
		return Image{}
	}
	return m.image
}

// Device is where the module is loaded; nil for one that does not come from LoadModule or LoadData.
func (m *Module) Device() *Device {
	if m == nil {
		return nil
	}
	return m.dev
}

// Unload removes the code: its functions cannot be used from then on. A second Unload, and that of a nil Module, do
// nothing.
func (m *Module) Unload() error {
	if m == nil {
		return nil
	}
	h := m.h.Swap(0)
	if h == 0 {
		return nil
	}
	return m.dev.call("cuModuleUnload", m.dev.drv.moduleUnload, h)
}

// live refuses a module that is nil or empty, or was unloaded.
func (m *Module) live(op string) (uintptr, error) {
	switch {
	case m == nil:
		return 0, fmt.Errorf("cuda: %s expects a module from LoadModule, but got nil", op)
	case m.dev == nil:
		return 0, fmt.Errorf("cuda: %s expects a module from LoadModule, but got an empty Module", op)
	}
	h := m.h.Load()
	if h == 0 {
		return 0, fmt.Errorf("%w: %s of a module that was unloaded", ErrClosed, op)
	}
	return h, m.dev.live(op)
}

// symbol is a name as C takes it: the driver would read one with a NUL as its beginning.
func symbol(op, name string) ([]byte, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return nil, fmt.Errorf("cuda: %s expects a name without NUL, but got %q", op, name)
	}
	return append([]byte(name), 0), nil
}

// Global is the address and the size in bytes of a __device__ or __constant__ variable.
func (m *Module) Global(name string) (DevicePtr, int, error) {
	h, err := m.live("Global")
	if err != nil {
		return 0, 0, err
	}
	text, err := symbol("Global", name)
	if err != nil {
		return 0, 0, err
	}
	var p DevicePtr
	var size uint64
	err = m.dev.call("cuModuleGetGlobal_v2", m.dev.drv.moduleGlobal, uintptr(unsafe.Pointer(&p)),
		uintptr(unsafe.Pointer(&size)), h, uintptr(unsafe.Pointer(&text[0])))
	if err != nil {
		return 0, 0, annotate(err, "%q", name)
	}
	return p, int(size), nil
}

// Function finds a kernel by its name, which for C++ kernels is the mangled one unless they are extern "C".
func (m *Module) Function(name string) (*Function, error) {
	h, err := m.live("Function")
	if err != nil {
		return nil, err
	}
	text, err := symbol("Function", name)
	if err != nil {
		return nil, err
	}
	f := &Function{dev: m.dev, mod: m, name: name}
	err = m.dev.call("cuModuleGetFunction", m.dev.drv.moduleFunction,
		uintptr(unsafe.Pointer(&f.h)), h, uintptr(unsafe.Pointer(&text[0])))
	if err != nil {
		return nil, annotate(err, "%q", name)
	}
	pool := &sync.Pool{}
	pool.New = func() any {
		a := NewArgs()
		a.pool, a.free = pool, true // until Function.Args takes it
		return a
	}
	f.pool = pool
	f.shared.Store(defaultShared)
	f.readParams()
	return f, nil
}
