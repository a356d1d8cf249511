package text

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShell has sh take command lines apart again.
func TestShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	words := []string{"plain", "a/b-c_d.e:f@1.2,3+4%5=6", "", " ", "a b", "it's", "'", "''", `"`, `a"b`, "$(touch pwned)", "`id`", "$HOME", "${x}", `\`, `a\`,
		"a;b", "a|b", "a&b", "a>b", "a<b", "(x)", "*", "?", "[a]", "~", "~root", "#no", "!x", "a\nb", "a\tb", "{a,b}", "-n", "--", "=x", "x=y", "ä 日本", "^", "%1"}
	line := Shell(append([]string{"printf", `%s\0`}, words...)...)
	require.NotContains(t, Shell("go", "get", "a.b/c@v1"), "'")
	cmd := exec.Command(sh, "-c", line)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", line, out)
	require.Equal(t, words, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"))
}
