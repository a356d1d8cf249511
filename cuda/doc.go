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
// # Errors
//
// A failed driver call is an *Error. After an illegal access in a kernel every later call on the context fails.
package cuda
