package lower

import (
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/gen/cir"
)

// AtomOps lists an intrinsic for each atom that a kernel can run, in the order of the tables.
func AtomOps() []*cir.Op {
	var out []*cir.Op
	for _, row := range atoms.AllMMA() {
		if row.PTX != "" {
			out = append(out, MMAOp(row))
		}
	}
	for _, row := range atoms.AllCopy() {
		if row.PTX == "" || row.Bulk > 0 {
			continue
		}
		out = append(out, CopyOp(row))
		for _, n := range atoms.L2Sizes() {
			if hinted, ok := row.PrefetchL2(n); ok {
				out = append(out, CopyOp(hinted))
			}
		}
	}
	return out
}
