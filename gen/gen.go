// Package gen runs a recorded kernel through the whole road: tile IR, C IR, CUDA C++ and the Go launcher.
package gen

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/gen/cuda"
	"github.com/gocute/gocute/gen/golaunch"
	"github.com/gocute/gocute/gen/lower"
)

// Output is everything that is generated for one kernel.
type Output struct {
	Name    string            // of the kernel
	Package string            // name of the launcher's package and folder
	Kernel  *cir.Kernel       // what the emulator runs and the printers print
	CUDA    []byte            // NAME.cu
	Files   map[string][]byte // by path within the package's folder, NAME.cu and the placeholder in bin/ included
}

// Options choose the form of the output.
type Options struct {
	Header bool // #include <gocute/….cuh> instead of a self-contained file
}

// Lower returns the kernel's C IR, or the mistakes in the kernel.
func Lower(k *dsl.Kernel) (*cir.Kernel, error) {
	if err := k.Err(); err != nil {
		return nil, err
	}
	return lower.Lower(k.IR())
}

// Generate makes all files of a kernel in memory.
func Generate(k *dsl.Kernel, opt Options) (*Output, error) {
	c, err := Lower(k)
	if err != nil {
		return nil, err
	}
	cu, err := cuda.Print(c, cuda.Options{Header: opt.Header})
	if err != nil {
		return nil, err
	}
	launcher, err := golaunch.Print(c, golaunch.Options{})
	if err != nil {
		return nil, err
	}
	out := &Output{Name: c.Name, Package: golaunch.PackageName(c.Name), Kernel: c, CUDA: cu}
	out.Files = map[string][]byte{
		c.Name + ".cu":                             cu,
		golaunch.FileName(c.Name):                  launcher,
		filepath.Join("bin", golaunch.Placeholder): golaunch.PlaceholderText(c.Name),
	}
	return out, nil
}

// WriteFile writes a file whole or not at all: to a temporary file beside it, then renamed. A file that already has
// these bytes is left alone.
func WriteFile(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && info.Mode()&(os.ModeDevice|os.ModeNamedPipe) != 0 { // which no file may take the place of
		return os.WriteFile(path, data, 0)
	}
	if old, err := os.ReadFile(path); err == nil && string(old) == string(data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".gocute-*")
	if err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	defer os.Remove(tmp.Name())
	if _, err = tmp.Write(data); err == nil {
		err = tmp.Chmod(0o644)
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}
