package lower

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/atoms"
)

// registers names n PTX registers, such as {d0, d1}.
func registers(letter string, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", letter, i)
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// majorBit is the immediate that says along which mode an operand in shared memory is contiguous.
var majorBit = map[atoms.Major]string{atoms.MajorK: ", 0", atoms.MajorMN: ", 1"}

// GMMAStatement is a wgmma instruction as a block of PTX: its registers d and a, its descriptors descA and descB, and
// the predicate accumulate, false where C counts as zero.
func GMMAStatement(row *atoms.MMARow) (string, error) {
	if !row.IsGMMA() {
		return "", fmt.Errorf("expects a wgmma instruction, but got %s", row.Name)
	}
	inRegisters := row.RA.Type != "u64"
	a, decl := "descA", ".reg .b64 descA;\n"
	if inRegisters {
		a, decl = registers("a", row.RA.Count), fmt.Sprintf(".reg .b32 a<%d>;\n", row.RA.Count)
	}
	d := "b32"
	if row.RD.Type == "f32" {
		d = "f32"
	}
	args := []string{registers("d", row.RD.Count), a, "descB", "accumulate"}
	text := strings.Join(args, ", ")
	text += gmmaTail(row)
	return fmt.Sprintf("{\n.reg .%s d<%d>;\n%s.reg .b64 descB;\n.reg .pred accumulate;\n%s %s;\n}\n", d, row.RD.Count, decl, row.PTX, text), nil
}

// bulkOperands are the operands of the bulk copies, by the beginning of their mnemonics: smem and bar are addresses in
// shared memory, gmem one in global memory, tensor one of a tensor's descriptor.
var bulkOperands = []struct{ prefix, operands string }{
	{"cp.async.bulk.shared::cluster.global.", "[smem], [gmem], %[1]d, [bar]"},
	{"cp.async.bulk.global.shared::cta.", "[gmem], [smem], %[1]d"},
	{"cp.async.bulk.tensor.2d.shared::cta.", "[smem], [tensor, %[2]s], [bar], policy"},
	{"cp.async.bulk.tensor.2d.shared::cluster.", "[smem], [tensor, %[2]s], [bar], blocks, policy"},
	{"cp.async.bulk.tensor.2d.global.", "[tensor, %[2]s], [smem]"},
	{"cp.reduce.async.bulk.tensor.2d.global.", "[tensor, %[2]s], [smem]"},
}

// BulkStatement is a bulk or tensor copy as a block of PTX. Tensors have 1 to 5 dimensions.
func BulkStatement(row *atoms.CopyRow, dims int) (string, error) {
	for _, b := range bulkOperands {
		if row.Bulk == 0 || !strings.HasPrefix(row.PTX, b.prefix) || dims < 1 || dims > 5 {
			continue
		}
		operands := strings.NewReplacer("%[1]d", fmt.Sprint(row.Bulk/8), "%[2]s", registers("c", dims)).Replace(b.operands)
		mnemonic := strings.Replace(row.PTX, ".2d.", fmt.Sprintf(".%dd.", dims), 1)
		return fmt.Sprintf("{\n.reg .b32 smem, bar, c<%d>;\n.reg .b64 gmem, tensor, policy;\n.reg .b16 blocks;\n%s %s;\n}\n", dims, mnemonic, operands), nil
	}
	return "", fmt.Errorf("expects a bulk copy of 1 to 5 dimensions, but got %s of %d", row.Name, dims)
}
