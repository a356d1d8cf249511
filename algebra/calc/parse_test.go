package calc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNUL: a NUL byte is an unexpected character and not the end of the text.
func TestNUL(t *testing.T) {
	for _, text := range []string{"1\x00", "1\x00+2", "\x00", "(4,\x008):(8,1)", "A=4:1\x00; A", "size(4:1\x00)", "1+\x00"} {
		v, err := Eval(text)
		require.ErrorContains(t, err, `"\x00"`, "%q = %s", text, v)
	}
}
