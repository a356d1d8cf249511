package tests

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
)

// indented are the quoted lines of a section, without their indentation.
func indented(t *testing.T, file, section string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "## "+section)
	require.True(t, ok)
	rest, _, _ = strings.Cut(rest, "\n## ")
	var out []string
	for line := range strings.Lines(rest) {
		if quoted, ok := strings.CutPrefix(line, "    "); ok {
			out = append(out, strings.TrimSpace(quoted))
		}
	}
	return out
}

// TestAddingAnAtom keeps the worked example of CONTRIBUTING.md true: its lines stand in the code, and the refusals that
// it quotes are what Check says of the row with one mistake each.
func TestAddingAnAtom(t *testing.T) {
	lines := indented(t, "../CONTRIBUTING.md", "Adding an atom")
	require.Len(t, lines, 7)
	for file, quoted := range map[string][]string{
		"../atoms/mma.go": lines[:2], "../atoms/typed.go": lines[2:3], "../kernels/selftest/list.go": lines[3:4]} {
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, line := range quoted {
			require.Contains(t, squeezed(string(code)), squeezed(line), file)
		}
	}
	short, ok := atoms.FindMMA("SM80_16x8x8_F32BF16BF16F32_TN")
	require.True(t, ok)
	for i, mistake := range []func(*atoms.MMARow){
		func(r *atoms.MMARow) { r.A = short.A },
		func(r *atoms.MMARow) { r.RA = short.RA },
		func(r *atoms.MMARow) { r.RD = atoms.Regs{Type: "f64", Count: 2} },
	} {
		row, ok := atoms.FindMMA("SM80_16x8x16_F32BF16BF16F32_TN")
		require.True(t, ok)
		require.NoError(t, row.Check())
		mistake(row)
		require.EqualError(t, row.Check(), lines[4+i])
	}
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }
