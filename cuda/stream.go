package cuda

import (
	"errors"
	"fmt"
	"time"
	"unsafe"
)

// Stream is a queue of work. A nil *Stream is the device's default stream wherever one is asked for.
type Stream struct {
	dev *Device
	h   uintptr
}

// NewStream makes a stream; work on it and on the default stream waits for each other. Close destroys it.
func (d *Device) NewStream() (*Stream, error) {
	s := &Stream{dev: d}
	if err := d.call("cuStreamCreate", d.drv.streamCreate, uintptr(unsafe.Pointer(&s.h)), 0); err != nil {
		return nil, err
	}
	return s, nil
}

// Handle is the driver's CUstream, for other CUDA libraries; 0 for the default stream.
func (s *Stream) Handle() uintptr {
	if s == nil {
		return 0
	}
	return s.h
}

// queue is the handle to put work on, or an error for a stream that was closed: its handle is the default stream's.
func (s *Stream) queue(op string) (uintptr, error) {
	if s != nil && s.h == 0 {
		return 0, fmt.Errorf("%w: %s on a stream", ErrClosed, op)
	}
	return s.Handle(), nil
}

// live returns the stream's device, or an error for one that is nil or closed.
func (s *Stream) live(op string) (*Device, error) {
	if s == nil {
		return nil, fmt.Errorf("cuda: %s expects a stream from NewStream, but got nil (use Device.Synchronize for the default stream)", op)
	}
	if s.h == 0 {
		return nil, fmt.Errorf("%w: %s of a stream", ErrClosed, op)
	}
	return s.dev, nil
}

// Synchronize waits until the stream's work is done. It reports errors of kernels launched before.
func (s *Stream) Synchronize() error {
	d, err := s.live("Synchronize")
	if err != nil {
		return err
	}
	return d.call("cuStreamSynchronize", d.drv.streamSync, s.h)
}

// Done reports whether the stream's work is done, without waiting.
func (s *Stream) Done() (bool, error) {
	d, err := s.live("Done")
	if err != nil {
		return false, err
	}
	err = d.call("cuStreamQuery", d.drv.streamQuery, s.h)
	if errors.Is(err, &Error{Code: NotReady}) {
		return false, nil
	}
	return err == nil, err
}

// Wait makes work put on the stream from now on wait for the event's last Record.
func (s *Stream) Wait(e *Event) error {
	d, err := s.live("Wait")
	if err != nil {
		return err
	}
	if err := e.live("Wait"); err != nil {
		return err
	}
	return d.call("cuStreamWaitEvent", d.drv.streamWait, s.h, e.h, 0)
}

// Close destroys the stream once its work is done, without waiting for it. A second Close does nothing.
func (s *Stream) Close() error {
	if s == nil || s.h == 0 {
		return nil
	}
	h := s.h
	s.h = 0
	return s.dev.call("cuStreamDestroy_v2", s.dev.drv.streamDestroy, h)
}

// Event marks a point in a stream and knows when it was reached.
type Event struct {
	dev *Device
	h   uintptr
}

// NewEvent makes an event that records times. Close destroys it.
func (d *Device) NewEvent() (*Event, error) {
	e := &Event{dev: d}
	if err := d.call("cuEventCreate", d.drv.eventCreate, uintptr(unsafe.Pointer(&e.h)), 0); err != nil {
		return nil, err
	}
	return e, nil
}

// live refuses an event that was closed.
func (e *Event) live(op string) error {
	if e == nil || e.h == 0 {
		return fmt.Errorf("%w: %s of an event", ErrClosed, op)
	}
	return nil
}

// Record puts the event after all work that is on the stream so far; nil is the default stream.
func (e *Event) Record(s *Stream) error {
	h, err := s.queue("Record")
	if err := errors.Join(err, e.live("Record")); err != nil {
		return err
	}
	return e.dev.call("cuEventRecord", e.dev.drv.eventRecord, e.h, h)
}

// Synchronize waits until the recorded point is reached.
func (e *Event) Synchronize() error {
	if err := e.live("Synchronize"); err != nil {
		return err
	}
	return e.dev.call("cuEventSynchronize", e.dev.drv.eventSync, e.h)
}

// Since is the time on the device from start to e, to about half a microsecond. Both must have been
// recorded and reached (Synchronize); else it returns an *Error with NotReady.
func (e *Event) Since(start *Event) (time.Duration, error) {
	if err := errors.Join(e.live("Since"), start.live("Since")); err != nil {
		return 0, err
	}
	var ms float32
	err := e.dev.call("cuEventElapsedTime", e.dev.drv.eventElapsed, uintptr(unsafe.Pointer(&ms)), start.h, e.h)
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// Close destroys the event. A second Close does nothing.
func (e *Event) Close() error {
	if e == nil || e.h == 0 {
		return nil
	}
	h := e.h
	e.h = 0
	return e.dev.call("cuEventDestroy_v2", e.dev.drv.eventDestroy, h)
}
