package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// entry is one step's result as the cache keeps it.
type entry struct {
	payload []byte
	entryHead
}

// entryHead is the entry's first line; it is what proves the payload whole.
type entryHead struct {
	Format  int     `json:"format"`
	Sum     string  `json:"sha256"` // of the payload
	Log     string  `json:"log"`    // what the compiler printed
	Seconds float64 `json:"seconds"`
	Prelude bool    `json:"prelude,omitempty"` // nvcc read it in place of the toolkit's headers
}

const entryFormat = 1

// keyOf hashes a list of parts, each with its length so that no two lists
// collide by running together.
func keyOf(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n", len(p))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (c *Common) objectPath(key string) string {
	return filepath.Join(c.CacheDir, objectsFolder, key[:2], key)
}

// load returns a whole entry; a missing, foreign or damaged one is a miss.
func (c *Common) load(key string) (entry, bool) {
	data, err := os.ReadFile(c.objectPath(key))
	if err != nil {
		return entry{}, false
	}
	touch(c.objectPath(key))
	head, payload, ok := bytes.Cut(data, []byte("\n"))
	if !ok {
		return entry{}, false
	}
	e := entry{payload: payload}
	if json.Unmarshal(head, &e.entryHead) != nil || e.Format != entryFormat || e.Sum != keyOf(payload) {
		return entry{}, false
	}
	return e, true
}

// store writes an entry under a temporary name first, so that a reader sees a
// whole one or none.
func (c *Common) store(key string, e entry) error {
	e.Format, e.Sum = entryFormat, keyOf(e.payload)
	head, err := json.Marshal(e.entryHead)
	if err != nil {
		return fmt.Errorf("cache entry %s: %w", key, err)
	}
	path := c.objectPath(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), tmpObject)
	if err != nil {
		return err
	}
	n, err := f.Write(slices.Concat(head, []byte("\n"), e.payload))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return c.added(int64(n))
}

// hashIncludes digests every file below the include folders, by its path
// relative to the folder: where the folders lie must not matter.
func hashIncludes(dirs []string) (string, error) {
	var parts [][]byte
	for i, dir := range dirs {
		root, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return "", fmt.Errorf("include folder %s: %w", dir, err)
		}
		parts = append(parts, fmt.Appendf(nil, "folder %d", i))
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			if strings.HasPrefix(rel, ".git"+string(filepath.Separator)) {
				return nil
			}
			data, err := fileOrLink(path)
			if err != nil {
				return err
			}
			parts = append(parts, []byte(filepath.ToSlash(rel)), []byte(keyOf(data)))
			return nil
		})
		if err != nil {
			return "", fmt.Errorf("include folder %s: %w", dir, err)
		}
	}
	return keyOf(parts...), nil
}

// fileOrLink reads a file; of a link to a folder it reads where that points to,
// for a walk does not go through links.
func fileOrLink(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		target, err := os.Readlink(path)
		return []byte(target), err
	}
	return os.ReadFile(path)
}
