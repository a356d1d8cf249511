package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Removed is what Clean removed.
type Removed struct {
	Dir        string   // the cache folder, absolute
	Objects    int      // compiled kernels
	Bytes      int64    // of the objects and the compilers together
	Toolchains []string // folders of installed compilers
}

// Clean removes the compiled objects from the cache folder, and with toolchain the compilers that gocute installed too.
// It removes nothing where something else lies among them. What other processes are writing is left to them.
func Clean(ctx context.Context, opt Options, toolchain bool) (Removed, error) {
	cache, err := cacheDir(opt)
	if err != nil {
		return Removed{}, err
	}
	done := Removed{Dir: cache}
	list, foreign, err := listObjects(cache)
	if err != nil {
		return done, err
	}
	var compilers []string
	if toolchain {
		var others []string
		compilers, others = installedIn(cache)
		foreign = append(foreign, others...)
	}
	if len(foreign) > 0 {
		return done, fmt.Errorf("build: %s: expected only what gocute puts into its cache folder, but got %s; nothing was removed: is %s right? Remove by hand what is not needed",
			cache, someOf(foreign), EnvCache)
	}
	sweepLeftovers(cache)
	for _, o := range list {
		if o.tmp && time.Since(o.used) < abandoned {
			continue
		}
		if err := os.Remove(o.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return done, err
		}
		_ = os.Remove(filepath.Dir(o.path)) // if it is empty now
		if !o.tmp {
			done.Objects++
		}
		done.Bytes += o.size
	}
	for _, dir := range compilers {
		size, err := removeInstalled(ctx, dir)
		if err != nil {
			return done, err
		}
		done.Bytes += size
		done.Toolchains = append(done.Toolchains, dir)
	}
	return done, nil
}

// installedIn are the folders of compilers that gocute installed, of this release and others; foreign have such a name
// and are something else.
func installedIn(cache string) (ours, foreign []string) {
	entries, err := os.ReadDir(cache)
	if err != nil { // it is not there
		return nil, nil
	}
	for _, e := range entries {
		dir := filepath.Join(cache, e.Name())
		kind, release, ok := strings.Cut(e.Name(), "-")
		if !ok || kind != "cuda" && kind != "nvrtc" || strings.Contains(release, ".lock") || strings.Contains(release, ".tmp-") {
			continue
		}
		marked := false
		for _, name := range []string{listName, "gocute-install.json", filesBelow} { // the second is of older releases, the third of damaged ones
			_, err := os.Lstat(filepath.Join(dir, name))
			marked = marked || err == nil
		}
		if e.IsDir() && marked {
			ours = append(ours, dir)
		} else {
			foreign = append(foreign, dir)
		}
	}
	return ours, foreign
}

// removeInstalled removes a compiler unless a process installs it just now.
func removeInstalled(ctx context.Context, dir string) (size int64, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	lock := flock.New(dir + ".lock")
	switch ok, err := lock.TryLock(); {
	case err != nil:
		return 0, err
	case !ok:
		return 0, fmt.Errorf("build: %s: another process installs it just now", dir)
	}
	defer lock.Close() // the file stays: a process that waits for the lock has it open
	size = folderSize(dir)
	// Under another name first: what is half removed must not look like an installation.
	away := dir + ".tmp-removed"
	if err := os.RemoveAll(away); err != nil {
		return 0, err
	}
	if err := os.Rename(dir, away); err != nil {
		return 0, err
	}
	return size, os.RemoveAll(away)
}

func folderSize(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// someOf names the first of several things.
func someOf(list []string) string {
	if len(list) > 3 {
		return fmt.Sprintf("%s and %d others", strings.Join(list[:3], ", "), len(list)-3)
	}
	return strings.Join(list, ", ")
}
