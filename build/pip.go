package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocute/gocute/internal/proc"
)

// pipEnv are settings for pip, by the environment and not by options: an older pip ignores what it does not know there.
// Where the wheels come from (PIP_INDEX_URL, PIP_FIND_LINKS, a proxy, pip.conf) is the user's choice, as their hashes
// decide. Choices of other packages, folders and interpreters are for other work of the user's and are left out.
func pipEnv() []string {
	env := []string{
		proc.ModulesBySafePath, "PYTHONUNBUFFERED=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1",
		"PIP_ROOT_USER_ACTION=ignore", "PIP_USER=0", "PIP_REQUIRE_VIRTUALENV=0",
	}
	for _, name := range []string{
		"REQUIREMENT", "CONSTRAINT", "BUILD_CONSTRAINT", "EDITABLE", "GROUP", "TARGET", "PREFIX", "ROOT", "PYTHON", "NO_BINARY", "ONLY_BINARY",
		"PLATFORM", "PYTHON_VERSION", "IMPLEMENTATION", "ABI", "DRY_RUN", "PRE",
	} {
		env = append(env, "PIP_"+name+"=") // pip takes an empty value for none
	}
	return env
}

// pip installs the wheels into target, telling about each download.
func (in installer) pip(ctx context.Context, python, target, tmp string) error {
	list := filepath.Join(tmp, "requirements.txt")
	if err := os.WriteFile(list, []byte(in.requirements()), 0o600); err != nil {
		return in.fail("write the list of wheels", err, "")
	}
	args := []string{
		"-m", "pip", "install", "--no-deps", "--only-binary", ":all:", "--no-compile", "--require-hashes",
		"--progress-bar", "off", "--target", target, "-r", list,
	}
	lines := &lineWriter{each: func(line string) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Downloading ") || strings.HasPrefix(line, "Using cached ") {
			fmt.Fprintf(in.progress, "gocute:   %s\n", line)
		}
	}}
	err := proc.Run(ctx, python, args, proc.Options{Env: append(pipEnv(), "TMPDIR="+tmp), Stdout: lines, Stderr: lines})
	lines.flush()
	if err == nil {
		return nil
	}
	said := lines.all.String()
	if strings.Contains(said, "DO NOT MATCH THE HASHES") {
		return in.fail("check the wheels' hashes", errWheels, lastLines(said, 12))
	}
	return in.fail("run pip (is there a network?)", err, lastLines(said, 12))
}

// errWheels precedes what pip says: the file, the hashes expected and the one that came.
var errWheels = errors.New("expected the pinned wheels, but the place that pip takes them from " +
	"(PIP_FIND_LINKS, PIP_INDEX_URL, pip.conf, its cache) has other files by these names; nothing was installed")

// lineWriter keeps everything and hands on each whole line.
type lineWriter struct {
	each func(string)
	all  strings.Builder
	rest []byte
}

// Write never fails.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.all.Write(p)
	w.rest = append(w.rest, p...)
	for {
		i := slices.Index(w.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		w.each(string(w.rest[:i]))
		w.rest = w.rest[i+1:]
	}
}

func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		w.each(string(w.rest))
		w.rest = nil
	}
}
