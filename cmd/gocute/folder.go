package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	modpath "golang.org/x/mod/module"
)

// importable refuses an output folder whose packages Go would not import, or would pass over.
func (s *session) importable(dir string) error {
	for _, e := range s.elements(dir) {
		if reason := elementFault(e); reason != "" {
			return fmt.Errorf("output folder %s: Go does not import packages from a folder %q, for %s: choose another -o", s.shorten(dir), e, reason)
		}
	}
	return nil
}

// elements are the parts of the folder's path that become parts of import paths: those below the folder of go.mod. Where
// there is none, they are those below the working folder, or the last one.
func (s *session) elements(dir string) []string {
	root := ""
	for up := dir; ; up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			root = up
			break
		} else if !errors.Is(err, fs.ErrNotExist) || up == filepath.Dir(up) {
			break
		}
	}
	if root == "" {
		root = filepath.Dir(dir)
		if rel, err := filepath.Rel(s.dir, dir); err == nil && filepath.IsLocal(rel) {
			root = s.dir
		}
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." {
		return nil
	}
	return strings.Split(filepath.ToSlash(rel), "/")
}

// elementFault says why a folder's name cannot be part of an import path, or "".
func elementFault(name string) string {
	switch {
	case name == "vendor":
		return "it is for copies of other modules"
	case name == "testdata":
		return "it is for the data of tests"
	case strings.HasPrefix(name, "_") || strings.HasPrefix(name, "."):
		return "its name begins with " + name[:1]
	}
	err := modpath.CheckImportPath(name)
	if invalid := (*modpath.InvalidPathError)(nil); errors.As(err, &invalid) {
		return invalid.Err.Error()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
