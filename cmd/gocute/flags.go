package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/gocute/gocute/gen"
)

// filePath is a file or folder that a flag names.
type filePath string

// Decode refuses the empty path, which would mean the same as no flag.
func (p *filePath) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := ctx.Scan.PopValueInto("path", &text); err != nil {
		return err
	}
	if text == "" {
		return errors.New(`expected a path, but got ""`)
	}
	*p = filePath(text)
	return nil
}

// maxText is how many bytes a text that a person names may have: more is no script, page or table, but a device or a mistake.
const maxText = 64 << 20

// readFile reads a file that the command line names, relative to the working folder, of at most so many bytes.
func (s *session) readFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(absolute(s.dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: expected a text of at most %d bytes, but it has more", name, limit)
	}
	return data, err
}

// fileToWrite refuses the path of a file that could not be written, before the work is done.
func (s *session) fileToWrite(flag, name string) error {
	path := absolute(s.dir, name)
	if info, err := os.Stat(path); err == nil && info.IsDir() || strings.HasSuffix(name, string(filepath.Separator)) {
		return fmt.Errorf("%s %s: expected the name of a file, but it is a folder", flag, name)
	}
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s %s: %s is a file, not a folder", flag, name, dir)
		}
		if err == nil {
			break
		}
	}
	return nil
}

// writeFile is gen.WriteFile for a file that a flag names: the error names that, and not the temporary file beside it.
func (s *session) writeFile(flag, name string, data []byte) error {
	err := gen.WriteFile(absolute(s.dir, name), data)
	if err == nil {
		return nil
	}
	if link := (*os.LinkError)(nil); errors.As(err, &link) {
		err = link.Err
	} else if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("%s %s: the file cannot be written: %w", flag, name, err)
}

// settings are dims and scalars by name, as --set and --shape give them.
type settings map[string]string

// Decode adds what one flag gives; kong's own maps would take the last of two values.
func (s settings) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := ctx.Scan.PopValueInto("NAME=VALUE,…", &text); err != nil {
		return err
	}
	return s.add(text)
}

// add reads NAME=VALUE,… in which each name is new.
func (s settings) add(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return fmt.Errorf("expected NAME=VALUE,…, but got %q", part)
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if name == "" {
			return fmt.Errorf("expected NAME=VALUE,…, but got %q, which has no name", part)
		}
		if old, given := s[name]; given {
			return fmt.Errorf("expected one value of %s, but got %s and %s", name, old, value)
		}
		s[name] = value
	}
	return nil
}

// usage is the error of flags that do not go together; the exit status is 2.
func usage(format string, args ...any) error {
	return exitError{fmt.Errorf("gocute: "+format, args...), 2}
}

// given is a flag, and whether it was given.
type given struct {
	flag string
	is   bool
}

// meaningless refuses the flags given that would be ignored, for a reason.
func meaningless(why string, flags ...given) error {
	for _, f := range flags {
		if f.is {
			return usage("%s: %s: leave it out", f.flag, why)
		}
	}
	return nil
}
