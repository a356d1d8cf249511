package launch

import (
	"fmt"

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

// Call is one launch in the making. One that met an error launches nothing.
type Call struct {
	k    *Kernel
	args *cuda.Args
	err  error
}

// Begin starts a launch; name is the kernel's, for the error of one that was never loaded.
func (k *Kernel) Begin(name string) Call {
	if k == nil {
		return Call{err: NotLoaded(name)}
	}
	return Call{k: k, args: k.fn.Args()}
}

// Dim appends an int. Its range was checked before.
func (c *Call) Dim(v int) {
	if c.err == nil {
		c.args.I32(int32(v))
	}
}

// Scalar appends a value.
func Scalar[E elem.Any](c *Call, v E) {
	if c.err == nil {
		cuda.Put(c.args, v)
	}
}

// Buffer appends a buffer's address; it may be nil where CheckBuffer found that none is needed.
func Buffer[E elem.Any](c *Call, name string, b *cuda.Buffer[E]) {
	switch {
	case c.err != nil:
	case b == nil:
		c.args.Ptr(0)
	case b.Ptr() != 0 && b.Device() != nil && b.Device().Ordinal() != c.k.dev.Ordinal():
		c.err = fmt.Errorf("%s: %s: expected a buffer on device %d, where the kernel was loaded, but got one on device %d",
			c.k.name, name, c.k.dev.Ordinal(), b.Device().Ordinal())
	default:
		c.args.Ptr(b.Ptr())
	}
}

// Launch puts the kernel on the stream (nil is the default stream) and does not wait.
func (c *Call) Launch(stream *cuda.Stream, grid Grid) error {
	if c.args == nil {
		return c.err
	}
	if c.err == nil {
		c.err = c.k.fn.Launch(cuda.LaunchConfig{
			Grid:    cuda.Dim3(grid),
			Block:   cuda.Dim3{X: uint32(c.k.threads), Y: 1, Z: 1},
			Shared:  c.k.shared,
			Stream:  stream,
			Overlap: c.k.overlap,
		}, c.args)
	}
	c.args.Release()
	c.args = nil
	return c.err
}
