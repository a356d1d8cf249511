// Package app uses printed launchers as a program without a GPU does.
package app

import (
	"reflect"
	"unsafe"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

// fake is a buffer of n elements at an address of no device.
func fake[E elem.Any](addr uint64, n int) *cuda.Buffer[E] {
	b := new(cuda.Buffer[E])
	v := reflect.ValueOf(b).Elem()
	p := v.FieldByName("ptr")
	*(*cuda.DevicePtr)(unsafe.Pointer(p.UnsafeAddr())) = cuda.DevicePtr(addr)
	*(*int)(unsafe.Pointer(v.FieldByName("n").UnsafeAddr())) = n
	mem := v.FieldByName("mem") // one that was not freed
	*(*unsafe.Pointer)(unsafe.Pointer(mem.UnsafeAddr())) = reflect.New(mem.Type().Elem()).UnsafePointer()
	return b
}
