package build

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
)

// ensure installs the wheels if they are not there or not right. The error is nf, with what was tried and what to do.
func (in installer) ensure(ctx context.Context, nf *NotFoundError) error {
	why := in.missing()
	if why == "" {
		return nil
	}
	nf.Tried = append(nf.Tried, Attempt{originInstalled, in.dir, why, false})
	what, env := "an nvcc", EnvNVCC
	if in.compiler == NameNVRTC {
		what, env = "a libnvrtc", EnvNVRTC
	}
	nf.Hint = fmt.Sprintf("set %s to %s of CUDA %d.%d or newer", env, what, minMajor, minMinor)
	if in.noInstall {
		nf.Hint += ", or allow gocute to install one: leave out --no-install and unset " + EnvNoInstall
		return nf
	}
	return in.installFor(ctx, nf, in.missing)
}

// reinstall repairs what ensure was content with and what failed all the same, if a file is not what it must be.
func (in installer) reinstall(ctx context.Context, nf *NotFoundError, failed error) error {
	nf.Tried = append(nf.Tried, Attempt{originInstalled, in.path(), failed.Error(), true})
	why := in.verify()
	switch {
	case why == "":
		nf.Hint = in.dir + " is to the byte what was installed, so something else of this machine is in the way"
		return nf
	case in.noInstall:
		nf.Tried = append(nf.Tried, Attempt{originInstalled, in.dir, why, false})
		nf.Hint = "allow gocute to install it anew: leave out --no-install and unset " + EnvNoInstall
		return nf
	}
	return in.installFor(ctx, nf, in.verify)
}

func (in installer) installFor(ctx context.Context, nf *NotFoundError, damage func() string) error {
	err := in.install(ctx, damage)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("build: installing %s: %w", in.compiler, context.Cause(ctx))
	}
	nf.Err = err
	return nf
}

// healer looks after gocute's own installation once for each compiler in use: of several steps that fail at a time, one
// has the files' hashes computed, and the others take its word.
type healer struct {
	in   installer
	mu   sync.Mutex
	done bool
	// Of that one time: whether the step is worth another try, or why it is not.
	again bool
	err   error
}

// heal is called after a step failed in a way that no source explains. It reports whether the step should be tried again,
// as the installation was damaged and now is not.
func (h *healer) heal(ctx context.Context) (bool, error) {
	if h == nil { // the compiler is not of our installing
		return false, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.done {
		h.again, h.err = h.look(ctx)
		h.done = ctx.Err() == nil
	}
	return h.again, h.err
}

func (h *healer) look(ctx context.Context) (bool, error) {
	why := h.in.verify()
	if why == "" {
		return false, nil
	}
	if h.in.noInstall {
		return false, fmt.Errorf("%s: %s; allow gocute to install it anew", h.in.dir, why)
	}
	if err := h.in.install(ctx, h.in.verify); err != nil {
		return false, fmt.Errorf("%s: %s; it could not be installed anew: %w", h.in.dir, why, err)
	}
	return true, nil
}

// explain is heal for a library, which is loaded already: what it finds and mends counts for the next process. It does not
// look at refusals of a source, except if they name a file of the installation.
func (h *healer) explain(ctx context.Context, failed error) error {
	var source *CompileError
	refused := errors.As(failed, &source)
	if h == nil || refused && !strings.Contains(source.Output, h.in.dir) {
		return failed
	}
	again, err := h.heal(ctx)
	if again {
		err = fmt.Errorf("%s was damaged and is installed anew; run this again", h.in.dir)
	}
	switch {
	case err == nil:
		return failed
	case refused:
		source.Hint = err.Error()
		return failed
	}
	return fmt.Errorf("%w\n%w", failed, err)
}

// diagnostic is how the compiler refuses a source, a flag or an assembly text.
var diagnostic = regexp.MustCompile(`(?m)^\S+\(\d+\): (catastrophic )?error|^ptxas .*(error|fatal) *:|^nvcc fatal *:`)

// unexpected reports whether a failing step looks like one of the compiler's own: it crashed, could not be started, said
// nothing that is a diagnostic, or complains about a file of the installation.
func (h *healer) unexpected(err error, output string) bool {
	if h == nil {
		return false
	}
	var exit *exec.ExitError
	return !errors.As(err, &exit) || exit.ExitCode() < 0 || strings.Contains(output, "died due to signal") ||
		strings.Contains(output, h.in.dir) || !diagnostic.MatchString(output)
}
