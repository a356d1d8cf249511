// Package dl opens shared libraries and calls their C functions without cgo. It knows nothing of CUDA.
package dl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrUnsupported is returned by Open on platforms this package has no calling convention for.
var ErrUnsupported = errors.New("loading shared libraries is supported on linux/amd64 and linux/arm64 only")

// Lib is an open shared library. It stays open until the process ends.
type Lib struct {
	handle uintptr
	path   string
}

// Path is the name under which the library was found.
func (l *Lib) Path() string { return l.path }

// Open tries each path in turn and returns the first library that loads. A path is absolute, or a library's name, which the
// loader looks up; neither may mean a file of the current folder. The error joins the reason of every path.
func Open(paths ...string) (*Lib, error) {
	var why []error
	for _, p := range paths {
		err := here(p, os.Getenv("LD_LIBRARY_PATH"))
		var h uintptr
		if err == nil {
			h, err = open(p)
		}
		if err == nil {
			return &Lib{h, p}, nil
		}
		if errors.Is(err, ErrUnsupported) {
			return nil, err
		}
		why = append(why, err)
	}
	if len(why) == 0 {
		return nil, errors.New("no library name to try")
	}
	return nil, Reasons(why)
}

// Reasons are errors of several tries as one, whose text is on one line.
type Reasons []error

// Error is the texts, between semicolons.
func (r Reasons) Error() string {
	all := make([]string, len(r))
	for i, err := range r {
		all[i] = err.Error()
	}
	return strings.Join(all, "; ")
}

// Unwrap gives them to errors.Is and errors.As.
func (r Reasons) Unwrap() []error { return r }

// here refuses what would be loaded from the current folder or one below it: a relative path, and a name that the loader
// finds there because an entry of its search path is relative or empty.
func here(path, search string) error {
	if filepath.IsAbs(path) {
		return nil
	}
	if filepath.Base(path) != path {
		return fmt.Errorf("%s: expected an absolute path, or a library's name, but got a relative path", path)
	}
	if search == "" { // not one entry that is empty, but none
		return nil
	}
	for _, dir := range strings.Split(strings.ReplaceAll(search, ";", ":"), ":") {
		if filepath.IsAbs(dir) {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, path)); err == nil {
			return fmt.Errorf("%s: expected a library of the system, but LD_LIBRARY_PATH has the relative entry %q, where a file has this name; remove the entry", path, dir)
		}
	}
	return nil
}

// Sym is a C function to find: its name, where its address goes, and whether the library may lack it
// (then the address stays 0).
type Sym struct {
	Name     string
	Addr     *uintptr
	Optional bool
}

// Bind looks every symbol up. The error lists all that are missing and not optional.
func (l *Lib) Bind(syms []Sym) error {
	var missing []string
	for _, s := range syms {
		a, err := symbol(l.handle, s.Name)
		if err != nil || a == 0 {
			if !s.Optional {
				missing = append(missing, s.Name)
			}
			continue
		}
		*s.Addr = a
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s lacks %s", l.path, strings.Join(missing, ", "))
	}
	return nil
}
