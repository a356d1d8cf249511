package selftest

import (
	"slices"
	"strings"

	"github.com/gocute/gocute/atoms"
)

// untested says why a row has no test, by the beginning of its name.
var untested = []struct{ prefix, reason string }{
	{"SM90_64x", "wgmma reads shared memory through descriptors: tests of its own multiply by those of operands there, the others' PTX is assembled only"},
	{"SM90_BULK", "bulk copies end at an mbarrier: their PTX is assembled only"},
	{"SM90_TMA", "tensor copies need a descriptor of the tensor: tests of their own make the loads, the others' PTX is assembled only"},
	{"UniversalCopy<f", "is the copy of raw bits of the same width"},
}

// WhyNot is the reason for which an instruction has no test, or "".
func WhyNot(name string) string {
	for _, u := range untested {
		if strings.HasPrefix(name, u.prefix) {
			return u.reason
		}
	}
	return ""
}

// Names lists the names of all instructions: wgmma's for N = 64, bulk copies' for 4096 bits.
func Names() []string {
	var out []string
	for _, r := range append(atoms.AllMMA(), atoms.AllGMMA(64)...) {
		out = append(out, r.Name)
	}
	for _, r := range atoms.AllCopy() {
		out = append(out, r.Name)
	}
	for _, kind := range atoms.BulkKinds() {
		if r, err := atoms.Bulk(kind, 4096); err == nil {
			out = append(out, r.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
