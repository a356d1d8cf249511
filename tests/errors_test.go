package tests

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/dsl"
)

// wanted are the errors that a file's comments ask for: // ERROR "regexp" at the end of the line that is at fault.
type wanted map[int]*regexp.Regexp

var errorComment = regexp.MustCompile(`// ERROR "(.*)"$`)

func wantedErrors(t *testing.T, file string) wanted {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	out := wanted{}
	for i, line := range strings.Split(string(text), "\n") {
		if m := errorComment.FindStringSubmatch(line); m != nil {
			out[i+1] = regexp.MustCompile(m[1])
		}
	}
	require.NotEmpty(t, out, "%s asks for no error", file)
	return out
}

// match takes an error off the list, or fails.
func (w wanted) match(t *testing.T, file string, line int, text string) {
	t.Helper()
	want, ok := w[line]
	switch {
	case !ok:
		t.Errorf("%s:%d: unexpected error: %s", file, line, text)
	case !want.MatchString(text):
		t.Errorf("%s:%d: error %q does not match %q", file, line, text, want)
	}
	delete(w, line)
}

func (w wanted) rest(t *testing.T, file string) {
	t.Helper()
	for line, want := range w {
		t.Errorf("%s:%d: no error, want %q", file, line, want)
	}
}

// TestMisuse runs kernels that misuse the DSL: each mistake is reported once, at its line, and nothing else is.
func TestMisuse(t *testing.T) {
	files := map[string]wanted{}
	for _, f := range []string{"misuse_copy_test.go", "misuse_mma_test.go", "misuse_kernel_test.go", "misuse_value_test.go", "misuse_warp_test.go", "misuse_hopper_test.go"} {
		files[f] = wantedErrors(t, f)
	}
	for name, f := range misuses {
		k := f(name)
		if !strings.HasPrefix(name, "good_") {
			require.Error(t, k.Err(), name)
		}
		for _, err := range unjoin(k.Err()) {
			var e *dsl.Error
			require.True(t, errors.As(err, &e), "%s: %v", name, err)
			file := filepath.Base(e.Pos.File)
			require.Contains(t, files, file, "%s: %v", name, err)
			files[file].match(t, file, e.Pos.Line, e.Op+": "+e.Text)
			require.Equal(t, fmt.Sprintf("%s:%d: %s: %s: %s", e.Pos.File, e.Pos.Line, name, e.Op, e.Text), err.Error())
		}
	}
	for file, w := range files {
		w.rest(t, file)
	}
}

func unjoin(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// misuses are the kernels, by the name that they are given.
var misuses = map[string]func(name string) *dsl.Kernel{}

func misuse(name string, body func(k *dsl.K)) bool {
	return defined(name, func(name string) *dsl.Kernel { return dsl.Define(name, body) })
}

// defined is for mistakes that are reported at the line of Define.
func defined(name string, f func(name string) *dsl.Kernel) bool {
	misuses[name] = f
	return true
}
