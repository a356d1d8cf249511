package cuda

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"
)

// Stream is a queue of work. A nil *Stream is the device's default stream wherever one is asked for.
type Stream struct {
	dev *Device
	h   atomic.Uintptr // 0 once closed
}

// NewStream makes a stream; work on it and on the default stream waits for each other. Close destroys it.
func (d *Device) NewStream() (*Stream, error) {
	if err := d.live("NewStream"); err != nil {
		return nil, err
	}
	var h uintptr
	if err := d.call("cuStreamCreate", d.drv.streamCreate, uintptr(unsafe.Pointer(&h)), 0); err != nil {
		return nil, err
	}
	s := &Stream{dev: d}
	s.h.Store(h)
	return s, nil
}

// Handle is the driver's CUstream, for other CUDA libraries on device d; 0 for the default stream. A stream that was
// closed, or is of another device, is an error.
func (s *Stream) Handle(d *Device) (uintptr, error) {
	if err := d.live("Handle"); err != nil {
		return 0, err
	}
	return s.queue("Handle", d)
}

// queue is the handle to put work of device d on, which is live, or an error for a stream that was closed (its handle
// would be the default stream's) or is another device's.
func (s *Stream) queue(op string, d *Device) (uintptr, error) {
	if s == nil {
		return 0, nil
	}
	h := s.h.Load()
	if h != 0 && s.dev == d {
		return h, nil
	}
	if _, _, err := s.live(op); err != nil {
		return 0, err
	}
	return h, d.same(op, "a stream", s.dev)
}

// live returns the stream's device and handle, or an error for one that is nil, empty or closed.
func (s *Stream) live(op string) (*Device, uintptr, error) {
	switch {
	case s == nil:
		return nil, 0, fmt.Errorf("cuda: %s expects a stream from NewStream, but got nil (use Device.Synchronize for the default stream)", op)
	case s.dev == nil:
		return nil, 0, fmt.Errorf("cuda: %s expects a stream from NewStream, but got an empty Stream", op)
	}
	h := s.h.Load()
	if h == 0 {
		return nil, 0, fmt.Errorf("%w: %s of a stream", ErrClosed, op)
	}
	return s.dev, h, s.dev.live(op)
}

// Synchronize waits until the stream's work is done. It reports errors of kernels launched before.
func (s *Stream) Synchronize() error {
	d, h, err := s.live("Synchronize")
	if err != nil {
		return err
	}
	return d.call("cuStreamSynchronize", d.drv.streamSync, h)
}

// Done reports whether the stream's work is done, without waiting.
func (s *Stream) Done() (bool, error) {
	d, h, err := s.live("Done")
	if err != nil {
		return false, err
	}
	err = d.call("cuStreamQuery", d.drv.streamQuery, h)
	if errors.Is(err, &Error{Code: NotReady}) {
		return false, nil
	}
	return err == nil, err
}

// Wait makes work put on the stream from now on wait for the event's last Record.
func (s *Stream) Wait(e *Event) error {
	d, h, err := s.live("Wait")
	if err != nil {
		return err
	}
	_, event, err := e.live("Wait")
	if err != nil {
		return err
	}
	return d.call("cuStreamWaitEvent", d.drv.streamWait, h, event, 0)
}

// Close destroys the stream once its work is done, without waiting for it. A second Close, and that of a nil Stream, do
// nothing.
func (s *Stream) Close() error {
	if s == nil {
		return nil
	}
	h := s.h.Swap(0)
	if h == 0 {
		return nil
	}
	return s.dev.call("cuStreamDestroy_v2", s.dev.drv.streamDestroy, h)
}

// Event marks a point in a stream and knows when it was reached.
type Event struct {
	dev *Device
	h   atomic.Uintptr // 0 once closed
}

// NewEvent makes an event that records times. Close destroys it.
func (d *Device) NewEvent() (*Event, error) {
	if err := d.live("NewEvent"); err != nil {
		return nil, err
	}
	var h uintptr
	if err := d.call("cuEventCreate", d.drv.eventCreate, uintptr(unsafe.Pointer(&h)), 0); err != nil {
		return nil, err
	}
	e := &Event{dev: d}
	e.h.Store(h)
	return e, nil
}

// live returns the event's device and handle, or an error for one that is nil, empty or closed.
func (e *Event) live(op string) (*Device, uintptr, error) {
	switch {
	case e == nil:
		return nil, 0, fmt.Errorf("cuda: %s expects an event from NewEvent, but got nil", op)
	case e.dev == nil:
		return nil, 0, fmt.Errorf("cuda: %s expects an event from NewEvent, but got an empty Event", op)
	}
	h := e.h.Load()
	if h == 0 {
		return nil, 0, fmt.Errorf("%w: %s of an event", ErrClosed, op)
	}
	return e.dev, h, e.dev.live(op)
}

// Record puts the event after all work that is on the stream so far; nil is the default stream. Both are of one device.
func (e *Event) Record(s *Stream) error {
	d, event, err := e.live("Record")
	if err != nil {
		return err
	}
	h, err := s.queue("Record", d)
	if err != nil {
		return err
	}
	return d.call("cuEventRecord", d.drv.eventRecord, event, h)
}

// Synchronize waits until the recorded point is reached.
func (e *Event) Synchronize() error {
	d, h, err := e.live("Synchronize")
	if err != nil {
		return err
	}
	return d.call("cuEventSynchronize", d.drv.eventSync, h)
}

// Since is the time on the device from start to e, to about half a microsecond. Both must have been
// recorded and reached (Synchronize); else it returns an *Error with NotReady.
func (e *Event) Since(start *Event) (time.Duration, error) {
	d, end, err := e.live("Since")
	if err != nil {
		return 0, err
	}
	from, begin, err := start.live("Since")
	if err == nil {
		err = d.same("Since", "a start", from)
	}
	if err == nil && d.drv.eventElapsed == 0 {
		err = fmt.Errorf("cuda: the driver (%s) cannot tell times of events: it lacks cuEventElapsedTime", d.drv.path)
	}
	if err != nil {
		return 0, err
	}
	var ms float32
	err = d.call("cuEventElapsedTime", d.drv.eventElapsed, uintptr(unsafe.Pointer(&ms)), begin, end)
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// Close destroys the event. A second Close, and that of a nil Event, do nothing.
func (e *Event) Close() error {
	if e == nil {
		return nil
	}
	h := e.h.Swap(0)
	if h == 0 {
		return nil
	}
	return e.dev.call("cuEventDestroy_v2", e.dev.drv.eventDestroy, h)
}
