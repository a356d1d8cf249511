package build

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

const (
	objectsFolder = "objects"
	tmpObject     = "tmp-"      // begins the names of entries that are being written
	trimLock      = "trim.lock" // in the folder of objects; held by the process that trims

	defaultLimit = 2 << 30 // bytes of all entries
	touchAfter   = time.Hour
	abandoned    = 24 * time.Hour // the age at which nobody still writes an entry
)

// sizeText is a number of bytes with a unit, of which those in the powers of ten and of two are the same here: a limit is
// no measurement.
var sizeText = regexp.MustCompile(`(?i)^([0-9]+) ?(?:([kmgt])i?)?b?$`)

// parseSize reads a size such as 500MB, 2G or 1048576.
func parseSize(text string) (int64, error) {
	m := sizeText.FindStringSubmatch(strings.TrimSpace(text))
	bad := fmt.Errorf("expected a size such as 500MB, 2GB or 0, but got %q", text)
	if m == nil {
		return 0, bad
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	shift := map[string]int{"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[strings.ToLower(m[2])]
	if err != nil || n > math.MaxInt64>>shift {
		return 0, bad
	}
	return n << shift, nil
}

// cacheLimit is the size that the entries may have together; 0 is none.
func cacheLimit() (int64, error) {
	text := os.Getenv(EnvLimit)
	if text == "" {
		return defaultLimit, nil
	}
	n, err := parseSize(text)
	if err != nil {
		return 0, fmt.Errorf("build: %s: %w", EnvLimit, err)
	}
	return n, nil
}

// touch notes that an entry is used, at most once an hour; where the cache is read only, nothing is trimmed either.
func touch(path string) {
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > touchAfter {
		now := time.Now()
		_ = os.Chtimes(path, now, now)
	}
}

// stored is how large the cache is as far as this process knows: it looks once, and then adds what it stores itself.
type stored struct {
	mu    sync.Mutex
	known bool
	size  int64
}

// added counts a new entry and trims a cache that is over its limit.
func (c *Common) added(n int64) error {
	if c.stored == nil {
		return nil
	}
	limit, err := cacheLimit()
	if err != nil || limit == 0 {
		return err
	}
	c.stored.mu.Lock()
	defer c.stored.mu.Unlock()
	c.stored.size += n
	if c.stored.known && c.stored.size <= limit {
		return nil
	}
	size, err := trim(c.CacheDir, limit)
	c.stored.size, c.stored.known = size, true
	return err
}

// object is a file in the folder of objects.
type object struct {
	path string
	size int64
	used time.Time
	tmp  bool // an entry that is being written, or was when its process was killed
}

var (
	objectName = regexp.MustCompile(`^[0-9a-f]{64}$`)
	objectDir  = regexp.MustCompile(`^[0-9a-f]{2}$`)
)

// listObjects are the entries of a cache; foreign is what else lies among them.
func listObjects(cache string) (list []object, foreign []string, err error) {
	root := filepath.Join(cache, objectsFolder)
	if info, err := os.Lstat(root); err == nil && !info.IsDir() {
		return nil, []string{root}, nil
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // another process trims
			return nil
		}
		if err != nil || path == root {
			return err
		}
		name, parent := d.Name(), filepath.Base(filepath.Dir(path))
		within := filepath.Dir(filepath.Dir(path)) == root
		switch {
		case d.IsDir() && filepath.Dir(path) == root && objectDir.MatchString(name),
			!d.IsDir() && path == filepath.Join(root, trimLock):
			return nil
		case d.Type().IsRegular() && within && (objectName.MatchString(name) && name[:2] == parent || strings.HasPrefix(name, tmpObject)):
			if info, err := d.Info(); err == nil {
				list = append(list, object{path, info.Size(), info.ModTime(), strings.HasPrefix(name, tmpObject)})
			}
			return nil
		}
		foreign = append(foreign, path)
		if d.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
	return list, foreign, err
}

// trim removes what processes that are dead were writing and, if the entries are larger than the limit, those that were
// not used for longest, until a tenth of the limit is free. It returns the size that is left. What another process
// reads meanwhile is a miss to it; what it writes has another name until it is whole.
func trim(cache string, limit int64) (size int64, err error) {
	lock := flock.New(filepath.Join(cache, objectsFolder, trimLock))
	if ok, err := lock.TryLock(); err != nil || !ok { // another process does it
		return 0, err
	}
	defer lock.Close()
	list, _, err := listObjects(cache)
	if err != nil {
		return 0, err
	}
	for _, o := range list {
		size += o.size
	}
	goal := int64(math.MaxInt64)
	if size > limit {
		goal = limit - limit/10
	}
	slices.SortFunc(list, func(a, b object) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.path, b.path)) })
	for _, o := range list {
		if o.tmp && time.Since(o.used) < abandoned || !o.tmp && size <= goal {
			continue
		}
		if e := os.Remove(o.path); e == nil || errors.Is(e, fs.ErrNotExist) {
			size -= o.size
		} else if err == nil {
			err = e
		}
	}
	return size, err
}
