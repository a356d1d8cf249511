// Package scratch makes temporary folders that the next run removes if the process that made them was killed.
//
// A folder has an owner as long as a process holds the lock on a file in it. The file gets its name only when it is locked,
// so a folder that has it without the lock is one of ours whose owner is dead.
package scratch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

const (
	// Prefix begins the names of the folders in the system's own folder for temporary files.
	Prefix = "gocute-"
	// mark is the locked file's name.
	mark = ".gocute-owner"
)

// Dir is a temporary folder of this process.
type Dir struct {
	Path string       // absolute, without symbolic links
	lock *flock.Flock // nil if there is none
}

// New makes a folder whose name begins with prefix, in parent or, if that is empty, among the system's temporary files.
func New(parent, prefix string) (*Dir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	path, err := os.MkdirTemp(parent, prefix)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	// Some file systems have no locks: a folder without one works as well, but no later run removes it.
	lock, _ := own(path)
	return &Dir{Path: path, lock: lock}, nil
}

// own makes the locked file.
func own(dir string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(dir, mark+".new"))
	ok, err := lock.TryLock()
	if err == nil && !ok {
		err = fmt.Errorf("another process holds %s", lock.Path())
	}
	if err == nil {
		err = os.Rename(lock.Path(), filepath.Join(dir, mark))
	}
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	return lock, nil
}

// Remove removes the folder with all that is in it.
func (d *Dir) Remove() {
	remove(d.Path)
	if d.lock != nil {
		_ = d.lock.Close()
	}
	_ = os.RemoveAll(d.Path) // where an open file cannot be removed
}

// remove takes the mark away last, so that what is left of a removal that was cut off is still known as ours.
func remove(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Name() != mark {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	_ = os.RemoveAll(dir)
}

// Sweep removes the folders in parent (as for New) with that prefix whose owners are dead. What it cannot prove to be
// such a folder of this user it leaves alone.
func Sweep(parent, prefix string) {
	if parent == "" {
		parent = os.TempDir()
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix) && ours(dir) {
			sweep(dir)
		}
	}
}

// sweep removes a folder unless its owner lives.
func sweep(dir string) {
	file := filepath.Join(dir, mark)
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return
	}
	// No os.O_CREATE: another sweep may have removed the folder in between.
	lock := flock.New(file, flock.SetFlag(os.O_RDWR))
	defer lock.Close()
	if ok, err := lock.TryLock(); err == nil && ok {
		remove(dir)
	}
}
