package templates

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeal(t *testing.T) {
	text := []byte("int x;\n")
	sealed := Seal(text)
	require.True(t, bytes.HasPrefix(sealed, text))
	require.True(t, Sealed(sealed))
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		require.False(t, Sealed(changed), "byte %d", i)
	}
	require.False(t, Sealed(text))
	require.False(t, Sealed(nil))
	require.False(t, Sealed(append(sealed, '\n')))
	require.False(t, Sealed(sealed[1:]))
	require.True(t, Sealed(Seal(sealed)), "twice is once more")
}
