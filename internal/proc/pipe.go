package proc

import (
	"io"
	"os"
	"os/exec"
	"time"
)

// outlet carries what a child writes to a writer of ours. Package exec would wait for the pipe to be closed before it tells
// that the child ended, and what the child left running keeps it open.
type outlet struct {
	from, to *os.File // the pipe's ends
	done     chan error
}

// connect gives the command pipes in place of writers that are no files.
// Where a writer fails, refused is called with its error: a child that goes on writing would not notice.
func connect(cmd *exec.Cmd, stdout, stderr io.Writer, refused func(error)) (outlets []*outlet, err error) {
	attach := func(w io.Writer) (io.Writer, error) {
		if _, file := w.(*os.File); file || w == nil {
			return w, nil
		}
		r, to, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		o := &outlet{from: r, to: to, done: make(chan error, 1)}
		go func() {
			_, err := io.Copy(w, r)
			_ = r.Close() // where the writer failed, the child's next write does
			if err != nil {
				refused(err)
			}
			o.done <- err
		}()
		outlets = append(outlets, o)
		return to, nil
	}
	if cmd.Stdout, err = attach(stdout); err == nil {
		if stdout == stderr {
			cmd.Stderr = cmd.Stdout
		} else {
			cmd.Stderr, err = attach(stderr)
		}
	}
	return outlets, err
}

// finish waits for the rest of the output: the child and its group have ended, so only what left the group can still write.
func (o *outlet) finish() error {
	_ = o.to.Close()
	defer o.from.Close()
	select {
	case err := <-o.done:
		return err
	case <-time.After(grace):
		return exec.ErrWaitDelay
	}
}
