// Package cuda is the CUDA driver API without cgo: devices, memory, modules, streams, events and launches.
//
// The driver library is looked for at the first call, so a program that imports this package builds and
// starts on machines without CUDA, and with CGO_ENABLED=0; there Open returns ErrNoDriver or ErrNoDevice.
//
// # Threads
//
// A driver context is current for an operating-system thread, while goroutines move between threads. So every
// call here makes the device's primary context current on the thread it runs on, which costs a fraction of a
// microsecond. All types may be used from several goroutines, except that an Args belongs to one goroutine at
// a time and that nothing may be in use while it is freed, unloaded or closed. Code that calls other
// CUDA libraries runs them inside Device.Do.
//
// # Order
//
// Streams made here order themselves with the default stream (a nil *Stream), where copies and fills run.
// So CopyTo after Launch sees the kernel's results without a Synchronize between them.
//
// # Contract
//
// It holds for every exported function and method of this package, of the packages below it and of generated launchers.
// All arguments are checked before the driver sees them. A wrong one is answered with an error that says what was
// expected and what came. Nothing panics, no number is cut to fewer bits in silence, and no sequence of calls of one
// goroutine makes the driver do something undefined. In particular:
//
//   - Nil and empty receivers and arguments are errors; nil stands for something only as a *Stream (the default stream)
//     and as the Args of a kernel without parameters. Methods without an error return zeros.
//   - Close, Free, Unload, Release and Destroy end a life. A second one, and that of nil, do nothing. What is used
//     afterwards answers with ErrClosed: a slice of a buffer that was freed, a kernel whose module was unloaded, whatever
//     was made with a Device that was closed. Ptr is 0 then.
//   - Streams, events and buffers are refused where those of another GPU are expected.
//   - Grids, blocks and shared memory are held against the limits of the device, sizes and offsets against 64 bits.
//
// Three things are not checked, for nobody here can: a DevicePtr that is appended to an Args as a number, the types of a
// launch's arguments, of which only the sizes are known (and these from CUDA 12.4 on), and what a goroutine frees while
// another uses it.
//
// # Errors
//
// A failed driver call is an *Error. After an illegal access in a kernel every later call on the context fails.
package cuda
