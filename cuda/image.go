package cuda

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Image is a kernel's code for one architecture.
type Image struct {
	Arch string // such as "sm_90", "sm_90a", or "compute_80"; for PTX the oldest architecture it runs on
	Data []byte // the cubin, or the text of the PTX
	PTX  bool
}

// String is the image's architecture and form.
func (i Image) String() string {
	if i.PTX {
		return i.Arch + " PTX"
	}
	return i.Arch + " cubin"
}

// The beginnings of the images that the driver tells apart; all others are PTX.
const (
	elfMagic    = "\x7fELF"
	fatbinMagic = 0xba55ed50
	fatbinHead  = 16 // bytes: the magic, a version, the header's size, and the size of what follows
)

// checkImage refuses images that the driver would read past their end, for it is not told how long they are, or of which
// it would read a part only: cut-off ELF files and fatbins, and PTX with a NUL inside.
func checkImage(image []byte) error {
	var err error
	switch {
	case len(image) == 0:
		err = errors.New("got no bytes")
	case bytes.HasPrefix(image, []byte(elfMagic)):
		err = wholeELF(image)
	case len(image) >= 4 && binary.LittleEndian.Uint32(image) == fatbinMagic:
		head, n := uint64(fatbinHead), uint64(len(image))
		if n >= head {
			head = uint64(binary.LittleEndian.Uint16(image[6:]))
		}
		if n < fatbinHead || head > n || binary.LittleEndian.Uint64(image[8:]) > n-head {
			err = fmt.Errorf("got a fatbin that is cut off after %d bytes", n)
		}
	case bytes.IndexByte(bytes.TrimRight(image, "\x00"), 0) >= 0:
		err = fmt.Errorf("got %d bytes that begin with %q and have a NUL inside", len(image), image[:min(len(image), 8)])
	}
	if err != nil {
		return fmt.Errorf("cuda: LoadData expects a cubin, a fatbin or PTX, but %w", err)
	}
	return nil
}

// wholeELF checks that all parts which an ELF file tells of lie within it.
func wholeELF(image []byte) error {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return fmt.Errorf("got a damaged ELF file of %d bytes: %w", len(image), err)
	}
	const machineCUDA = 190
	if f.Class != elf.ELFCLASS64 || f.Machine != machineCUDA {
		return fmt.Errorf("got an ELF file for another machine (%s, %s)", f.Class, f.Machine)
	}
	n := uint64(len(image))
	outside := func(offset, size uint64) bool { return offset > n || size > n-offset }
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && outside(s.Offset, s.FileSize) {
			return fmt.Errorf("got a cubin that is cut off after %d bytes, in section %s", n, s.Name)
		}
	}
	for _, p := range f.Progs {
		if outside(p.Off, p.Filesz) {
			return fmt.Errorf("got a cubin that is cut off after %d bytes", n)
		}
	}
	return nil
}

// arch is a parsed architecture.
type arch struct {
	major, minor int
	suffix       byte // 'a': this very architecture only; 'f': its family, that is its major version; 0: plain
}

func parseArch(s string) (arch, error) {
	bad := fmt.Errorf("cuda: %q is not an architecture; expected one such as sm_90, sm_90a or compute_80", s)
	digits := strings.TrimPrefix(strings.TrimPrefix(s, "sm_"), "compute_")
	var a arch
	if n := len(digits); n > 0 && (digits[n-1] == 'a' || digits[n-1] == 'f') {
		a.suffix = digits[n-1]
		digits = digits[:n-1]
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 10 {
		return arch{}, bad
	}
	a.major, a.minor = n/10, n%10 // the minor version is the last digit: sm_120 is 12.0
	return a, nil
}

// runs reports whether code for a works on a device of the given compute capability.
func (a arch) runs(ptx bool, major, minor int) bool {
	switch {
	case a.suffix == 'a':
		return a.major == major && a.minor == minor
	case ptx && a.suffix == 0: // PTX goes forward to every later architecture
		return a.major < major || a.major == major && a.minor <= minor
	default: // a cubin, and family code, stay within the major version
		return a.major == major && a.minor <= minor
	}
}

// better orders images that run: a cubin before PTX, then the nearest architecture, then the more specific.
func better(a arch, aPTX bool, b arch, bPTX bool) bool {
	if aPTX != bPTX {
		return !aPTX
	}
	return cmp.Or(cmp.Compare(a.major, b.major), cmp.Compare(a.minor, b.minor), cmp.Compare(rank[a.suffix], rank[b.suffix])) > 0
}

var rank = map[byte]int{0: 0, 'f': 1, 'a': 2}

// choose is the index of the image to load on a device of the given compute capability.
func choose(images []Image, major, minor int, ptxOnly bool) (int, error) {
	best := -1
	var bestArch arch
	for i, im := range images {
		a, err := parseArch(im.Arch)
		if err != nil {
			return -1, err
		}
		if len(im.Data) == 0 || ptxOnly && !im.PTX || !a.runs(im.PTX, major, minor) {
			continue
		}
		if best < 0 || better(a, im.PTX, bestArch, images[best].PTX) {
			best, bestArch = i, a
		}
	}
	if best < 0 {
		return -1, noImage(images, major, minor, ptxOnly)
	}
	return best, nil
}

func noImage(images []Image, major, minor int, ptxOnly bool) error {
	var have []string
	for _, im := range images {
		s := im.String()
		if len(im.Data) == 0 {
			s += " (empty)"
		}
		have = append(have, s)
	}
	if have == nil {
		have = []string{"none"}
	}
	want := fmt.Sprintf("a cubin of sm_%d0 to sm_%d%d, or PTX of sm_%d%d or older", major, major, minor, major, minor)
	if ptxOnly {
		want = fmt.Sprintf("PTX of sm_%d%d or older (%s=1 rules cubins out)", major, minor, forcePTX)
	}
	return fmt.Errorf("%w: expected %s, but got %s", ErrNoImage, want, strings.Join(have, ", "))
}
