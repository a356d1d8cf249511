package build

import (
	"context"
	_ "embed" // the prelude's files
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gocute/gocute/templates"
)

var (
	//go:embed prelude/cuda_runtime.h
	preludeRuntime string
	//go:embed prelude/cstdint
	preludeIntegers string
)

// prelude stands in for the headers that nvcc reads before a printed kernel: the toolkit's and the host's take it longer
// than the whole of a small kernel.
var prelude = [...]struct{ path, text string }{
	{"prelude/cuda_runtime.h", preludeRuntime},
	{"prelude/cstdint", preludeIntegers},
}

// usesPrelude reports whether the prelude may stand in for the headers: before a whole kernel as gocute printed it. By hand
// one can write what means something else after the headers (a macro that they have, dim3, new), flags and line information
// mean more than the prelude has, and its integers are those of Linux.
func (t *Toolchain) usesPrelude(j *job) bool {
	return !t.FullHeaders && templates.Sealed(j.src.Code) && len(j.src.IncludeDirs) == 0 && len(j.src.Flags) == 0 && !j.src.LineInfo && runtime.GOOS == "linux"
}

// preludeArgs puts the prelude before all other folders of headers.
func (j *job) preludeArgs() []string { return append([]string{"-I./prelude"}, j.frontArgs()...) }

// front runs nvcc's preprocessor and optimiser: source to PTX. If the prelude does not do, it reads the headers.
func (t *Toolchain) front(ctx context.Context, j *job, arch string) (entry, error) {
	if !t.usesPrelude(j) {
		return t.frontWith(ctx, j, arch, j.frontArgs())
	}
	e, err := t.frontWith(ctx, j, arch, j.preludeArgs())
	var refused *CompileError
	if err == nil {
		e.Prelude = true
		return e, nil
	}
	if !errors.As(err, &refused) {
		return entry{}, err
	}
	return t.frontWith(ctx, j, arch, j.frontArgs())
}

func (t *Toolchain) frontWith(ctx context.Context, j *job, arch string, args []string) (entry, error) {
	return t.nvcc(ctx, j, arch, args, j.src.Name+".cu", j.src.Code, j.src.Name+".ptx")
}

// frontKey is what the front end's result depends on besides the source.
func (t *Toolchain) frontKey(j *job) []byte {
	parts := [][]byte{[]byte(j.includes)}
	for _, a := range j.frontArgs() {
		parts = append(parts, []byte(a))
	}
	if t.usesPrelude(j) {
		for _, f := range prelude {
			parts = append(parts, []byte(f.path), []byte(f.text))
		}
	}
	return []byte(keyOf(parts...))
}

// fillPrelude writes the prelude's files into the folder nvcc runs in.
func fillPrelude(dir string) error {
	for _, f := range prelude {
		path := filepath.Join(dir, f.path)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.WriteFile(path, []byte(f.text), 0o666)
		}
		if err != nil {
			return fmt.Errorf("write the prelude: %w", err)
		}
	}
	return nil
}
