package build

import (
	"fmt"
	"strconv"
	"strings"
)

// ArchsOf lists what is shipped of a kernel whose least architecture is given, such as 80: cubins for each of DefaultArchs
// that runs it, or else for the least one, and the virtual chip of the PTX that later GPUs take. A kernel that only one
// architecture runs, by instructions of its own, is compiled for that with them (sm_90a) and for nothing else.
func ArchsOf(least int, exactly bool) (cubins []string, ptx string) {
	own := fmt.Sprint(least)
	if exactly {
		own += "a"
		return []string{"sm_" + own}, "compute_" + own
	}
	for _, a := range DefaultArchs() {
		if n, err := strconv.Atoi(strings.TrimPrefix(a, "sm_")); err == nil && n >= least {
			cubins = append(cubins, a)
		}
	}
	if cubins == nil {
		cubins = []string{"sm_" + own}
	}
	return cubins, "compute_" + own
}

// ArchFor is the chip to compile such a kernel for that runs on a device, whose architecture is given as sm_90.
func ArchFor(device string, exactly bool) string {
	if exactly && !strings.HasSuffix(device, "a") {
		return device + "a"
	}
	return device
}
