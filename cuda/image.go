package cuda

import (
	"cmp"
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
