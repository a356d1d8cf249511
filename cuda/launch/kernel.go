package launch

import (
	"errors"
	"fmt"
	"math"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

// Kernel is a loaded kernel. It may be launched from several goroutines.
type Kernel struct {
	name            string
	dev             *cuda.Device
	mod             *cuda.Module
	fn              *cuda.Function
	threads, shared int
	overlap         bool
	maps            Maps
}

// Function is the kernel as the driver knows it, nil if it was not loaded.
func (k *Kernel) Function() *cuda.Function {
	if k == nil {
		return nil
	}
	return k.fn
}

// Close unloads the kernel, which must not be running. A second Close does nothing.
func (k *Kernel) Close() error {
	if k == nil {
		return nil
	}
	return k.mod.Unload()
}

// NotLoaded is the error of launching a kernel that does not come from Load.
func NotLoaded(kernel string) error {
	return fmt.Errorf("%s: Launch expects a kernel from Load, but got an empty one", kernel)
}

// Call is one launch in the making. One that met an error launches nothing. It serves for one Launch.
type Call struct {
	k    *Kernel
	args *cuda.Args // nil before Begin and after Launch
	err  error
}

// Begin starts a launch; name is the kernel's, for the error of one that was never loaded.
func (k *Kernel) Begin(name string) Call {
	if k == nil || k.fn == nil {
		return Call{err: NotLoaded(name)}
	}
	return Call{k: k, args: k.fn.Args()}
}

// ready reports whether values can be appended.
func (c *Call) ready() bool { return c != nil && c.err == nil && c.args != nil }

// errNotBegun is the error of a Call that does not come from Begin, or was launched already.
var errNotBegun = errors.New("launch: expected a Call from Begin that was not launched yet")

// Dim appends an int, which has 32 bits.
func (c *Call) Dim(v int) {
	switch {
	case !c.ready():
	case v < math.MinInt32 || v > math.MaxInt32:
		c.err = fmt.Errorf("%s: argument %d: expected a dim of 32 bits, but got %d", c.k.name, c.args.Len(), v)
	default:
		c.args.I32(int32(v))
	}
}

// Scalar appends a value.
func Scalar[E elem.Any](c *Call, v E) {
	if c.ready() {
		cuda.Put(c.args, v)
	}
}

// place refuses a buffer that cannot be used, or lies on another device than the kernel.
func place[E elem.Any](c *Call, name string, b *cuda.Buffer[E]) error {
	if b.Ptr() == 0 {
		if err := b.Live(); errors.Is(err, cuda.ErrClosed) {
			return fmt.Errorf("%s: %s: %w", c.k.name, name, err)
		}
		return nil // nil, empty or of no elements: fine where CheckBuffer found that none is needed
	}
	if d := b.Device(); d != c.k.dev && d.Ordinal() != c.k.dev.Ordinal() {
		return fmt.Errorf("%s: %s: expected a buffer on device %d, where the kernel was loaded, but got one on device %d",
			c.k.name, name, c.k.dev.Ordinal(), d.Ordinal())
	}
	return nil
}

// Buffer appends a buffer's address; it may be nil where CheckBuffer found that none is needed.
func Buffer[E elem.Any](c *Call, name string, b *cuda.Buffer[E]) {
	if !c.ready() {
		return
	}
	if c.err = place(c, name, b); c.err == nil {
		c.args.Ptr(b.Ptr())
	}
}

// Launch puts the kernel on the stream (nil is the default stream) and does not wait. A Call launches once.
func (c *Call) Launch(stream *cuda.Stream, grid Grid) error {
	if c == nil || c.args == nil {
		if c != nil && c.err != nil {
			return c.err
		}
		return errNotBegun
	}
	if c.err == nil {
		c.err = c.k.fn.Launch(cuda.LaunchConfig{
			Grid:    cuda.Dim3(grid),
			Block:   cuda.D1(c.k.threads),
			Shared:  c.k.shared,
			Stream:  stream,
			Overlap: c.k.overlap,
		}, c.args)
	}
	c.args.Release()
	c.args = nil
	return c.err
}
