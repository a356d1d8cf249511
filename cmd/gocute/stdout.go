package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// checkedWriter passes on what is written until a write fails, and keeps that error: run asks for it at the end, so
// that no command has to look at what fmt.Fprint returns.
type checkedWriter struct {
	to  io.Writer
	mu  sync.Mutex // a command that was interrupted may still be writing
	err error
}

// lostOutput is the error of a write to standard output.
type lostOutput struct{ cause error }

func (e *lostOutput) Error() string { return "standard output is incomplete: " + e.cause.Error() }
func (e *lostOutput) Unwrap() error { return e.cause }

// Write writes all of data, or fails now and ever after.
func (w *checkedWriter) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.to.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = &lostOutput{err}
	}
	return n, w.err
}

// lost is the first error of writing, or nil.
func (w *checkedWriter) lost() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// finish is the exit status after the last write. A reader that has closed its pipe has read all it wanted, so that
// nothing is said about it.
func (w *checkedWriter) finish(status int, stderr io.Writer) int {
	err := w.lost()
	if err == nil {
		return status
	}
	if !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintln(stderr, "gocute:", err)
	}
	return max(status, 1)
}

// lost is the error of writing to standard output, or nil.
func (s *session) lost() error {
	for _, to := range []io.Writer{s.stdout, s.objects} {
		if w, ok := to.(*checkedWriter); ok {
			return w.lost()
		}
	}
	return nil
}
