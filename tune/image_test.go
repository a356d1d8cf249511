package tune

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadBundleLooksAtImages: an image read from disk is a cubin of what its name says, or the bundle is refused.
func TestReadBundleLooksAtImages(t *testing.T) {
	manifest := []byte(`{"Format":1,"Family":"f","Candidates":[{"Config":"a","Kernel":"k","Threads":32,"Image":"a.sm_90.cubin"}]}`)
	_, err := FromFiles(map[string][]byte{manifestName: manifest, "a.sm_90.cubin": []byte("garbage")})
	require.ErrorContains(t, err, `a.sm_90.cubin, the image of a: expected an ELF file, but got 7 bytes that begin with "garbage"`)
}
