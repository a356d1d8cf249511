package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// listName is the file in an installation that lists its files. What it has to say is known: the pinned digest is that of
// this very text, so a list that was changed, cut off or written for other wheels is not believed.
const listName = "gocute-files.txt"

// filesBelow is the folder of the wheels' own files; beside it pip writes what differs between machines.
const filesBelow = "nvidia"

// libLink is ours: nvcc.profile links from lib64, which the wheels call lib.
const libLink = wheelRoot + "/lib64"

// listed is a file with what it must be.
type listed struct {
	path string // slash-separated, from the installation's folder
	sum  string // SHA-256, in hexadecimal
	size int64
	exec bool // it may be executed
}

func (f listed) String() string {
	mode := "-"
	if f.exec {
		mode = "x"
	}
	return fmt.Sprintf("%s %d %s %s\n", f.sum, f.size, mode, f.path)
}

// listText is the list as it is kept, in the order of the paths.
func listText(files []listed) string {
	slices.SortFunc(files, func(a, b listed) int { return strings.Compare(a.path, b.path) })
	var b strings.Builder
	for _, f := range files {
		b.WriteString(f.String())
	}
	return b.String()
}

// parseList reads a list that is known to be whole.
func parseList(text string) ([]listed, error) {
	var out []listed
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if len(f) != 4 {
			return nil, fmt.Errorf("internal error: %s: %q is no line of it", listName, line)
		}
		size, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("internal error: %s: %w", listName, err)
		}
		out = append(out, listed{path: f[3], sum: f[0], size: size, exec: f[2] == "x"})
	}
	return out, nil
}

// listFiles hashes all files that lie in a folder of wheels.
func listFiles(dir string) ([]listed, error) {
	var out []listed
	err := filepath.WalkDir(filepath.Join(dir, filesBelow), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || filepath.ToSlash(rel) == libLink {
			return err
		}
		f, err := listFile(dir, filepath.ToSlash(rel))
		out = append(out, f)
		return err
	})
	return out, err
}

// listFile hashes one.
func listFile(dir, rel string) (listed, error) {
	path := filepath.Join(dir, filepath.FromSlash(rel))
	info, err := os.Lstat(path)
	if err != nil {
		return listed{}, err
	}
	if !info.Mode().IsRegular() {
		return listed{}, fmt.Errorf("%s: expected a plain file, but got %v", path, info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return listed{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return listed{path: rel, sum: hex.EncodeToString(h.Sum(nil)), size: n, exec: info.Mode()&0o111 != 0}, err
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// readList returns the installation's list of files, if it is whole.
func (in installer) readList() ([]listed, error) {
	path := filepath.Join(in.dir, listName)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if got := digest(string(data)); got != in.digest {
		return nil, fmt.Errorf("%s: expected the list of the pinned wheels' files, with the SHA-256 %s, but got %s", path, in.digest, got)
	}
	return parseList(string(data))
}

// missing says why dir is not a complete installation of the pinned wheels; empty means that it is. It looks at the size
// of every file, not at what it holds: that is for verify. Where only the list is damaged, the files' hashes write it anew.
func (in installer) missing() string {
	if _, err := os.Stat(in.dir); errors.Is(err, fs.ErrNotExist) || in.digest == "" {
		return "nothing installed there"
	}
	files, err := in.readList()
	if err != nil {
		if files, err = in.listPinned(in.dir); err != nil {
			return "it is damaged: " + err.Error()
		}
		_ = in.writeList(in.dir, files) // where that is not allowed, the next start hashes again
	}
	return in.firstDamage(files, func(f listed) error { return f.compareSize(in.dir) })
}

// verify is missing by the hash of every file.
func (in installer) verify() string {
	files, err := in.readList()
	if err != nil {
		return in.missing()
	}
	return in.firstDamage(files, func(f listed) error {
		got, err := listFile(in.dir, f.path)
		if err == nil && got != f {
			err = fmt.Errorf("%s: expected the SHA-256 %s, but got %s", filepath.Join(in.dir, f.path), f.sum, got.sum)
		}
		return err
	})
}

// firstDamage names the first file that is not right and counts the others.
func (in installer) firstDamage(files []listed, look func(listed) error) string {
	var first error
	count := 0
	note := func(err error) {
		if err != nil {
			count++
		}
		if first == nil {
			first = err
		}
	}
	for _, f := range files {
		note(look(f))
	}
	if to, err := os.Readlink(filepath.Join(in.dir, libLink)); err != nil {
		note(err)
	} else if to != "lib" {
		note(fmt.Errorf("%s: expected a link to lib, but got one to %s", filepath.Join(in.dir, libLink), to))
	}
	switch count {
	case 0:
		return ""
	case 1:
		return "it is damaged: " + first.Error()
	}
	return fmt.Sprintf("it is damaged: %v (and %d other files)", first, count-1)
}

// compareSize looks at a file without reading it.
func (f listed) compareSize(dir string) error {
	path := filepath.Join(dir, f.path)
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: expected a plain file, but got %v", path, info.Mode().Type())
	case info.Size() != f.size:
		return fmt.Errorf("%s: expected %d bytes, but got %d", path, f.size, info.Size())
	case f.exec && info.Mode()&0o111 == 0:
		return fmt.Errorf("%s: expected a program, but got a file that may not be executed", path)
	}
	return nil
}

// listPinned hashes what lies in a folder. The error says that it is not to the byte what the pinned wheels unpack to.
func (in installer) listPinned(dir string) ([]listed, error) {
	files, err := listFiles(dir)
	if err != nil {
		return nil, err
	}
	if got := digest(listText(files)); got != in.digest {
		return nil, fmt.Errorf("expected the files of the pinned wheels, whose list has the SHA-256 %s, but got %d files whose list has %s", in.digest, len(files), got)
	}
	return files, nil
}

// writeList replaces the list in one step.
func (in installer) writeList(dir string, files []listed) error {
	f, err := os.CreateTemp(dir, listName+".tmp-")
	if err != nil {
		return err
	}
	_, err = f.WriteString(listText(files))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, listName))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
