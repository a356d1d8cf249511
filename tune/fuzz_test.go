package tune

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/internal/fakecubin"
)

// smallBundle is a manifest that is right.
const smallBundle = `{"Format": 1, "Family": "f", "Candidates": [{"config": "a", "kernel": "k", "threads": 32, "Image": "a.sm_90.cubin"}],
"Shapes": [{"Dims": {"M": 4}, "Tensors": [{"Name": "A", "Elem": "f32", "Extents": [4, 8], "Strides": [8, 1], "Read": true}],
"Launches": [{"Config": "a", "Grid": {"X": 1, "Y": 1, "Z": 1}, "Args": [{"Tensor": "A"}, {"Bits": 4, "Bytes": 4}]}],
"Expected": [{"Output": "A", "Offsets": [3], "Want": [1]}]}]}`

// damaged are manifests that are wrong, each in one place, by a part of the error.
var damaged = map[string][2]string{
	"expected images in the same folder":            {`"a.sm_90.cubin"`, `"sub/a.sm_90.cubin"`},
	"images in the same folder, but got \"tune.js":  {`"a.sm_90.cubin"`, `"tune.json"`},
	"1 to 1024 threads":                             {`"threads": 32`, `"threads": -32`},
	"a grid of 0 or more blocks, but got (-1":       {`"X": 1`, `"X": -1`},
	"a value of 1, 2, 4 or 8 bytes, but got 3":      {`"Bytes": 4`, `"Bytes": 3`},
	"a value of 1 bytes, but got 0x104":             {`"Bits": 4, "Bytes": 4`, `"Bits": 260, "Bytes": 1`},
	"span at most 2^50 elements":                    {`[8, 1]`, `[4611686018427387904, 1]`},
	"A: expected extents and strides of 0 or more":  {`[4, 8]`, `[-4, 8]`},
	"expected as many strides as extents":           {`[8, 1]`, `[8]`},
	"takes a tensor B, which is not there":          {`{"Tensor": "A"}`, `{"Tensor": "B"}`},
	"it is launched, but is no candidate":           {`"Config": "a"`, `"Config": "b"`},
	"one for each offset within it, but got 1 for ": {`"Offsets": [3]`, `"Offsets": [-3]`},
}

func TestDamagedBundles(t *testing.T) {
	read := func(text string) error {
		_, err := FromFiles(map[string][]byte{manifestName: []byte(text), "a.sm_90.cubin": fakecubin.New("sm_90", "k")})
		return err
	}
	require.NoError(t, read(smallBundle))
	for want, change := range damaged {
		text := strings.Replace(smallBundle, change[0], change[1], 1)
		require.NotEqual(t, smallBundle, text)
		require.ErrorContains(t, read(text), want)
	}
}

// FuzzReadBundle: a folder is read or refused, and one that was read can be worked on and written again.
func FuzzReadBundle(f *testing.F) {
	f.Add([]byte(smallBundle), fakecubin.New("sm_90", "k"))
	for _, change := range damaged {
		f.Add([]byte(strings.Replace(smallBundle, change[0], change[1], 1)), []byte{})
	}
	f.Fuzz(func(t *testing.T, manifest, image []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, manifestName), manifest, 0o666))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.sm_90.cubin"), image, 0o666))
		b, err := ReadBundle(dir)
		if err != nil {
			return
		}
		for _, s := range b.Shapes {
			for _, l := range s.Launches {
				require.NotNil(t, b.Candidate(l.Config))
			}
			for i := range s.Tensors {
				n, err := s.Tensors[i].Size()
				require.NoError(t, err)
				require.GreaterOrEqual(t, n, int64(0))
			}
		}
		files, err := b.Files()
		require.NoError(t, err)
		again, err := FromFiles(files)
		require.NoError(t, err)
		one, err := json.Marshal(b.Manifest)
		require.NoError(t, err)
		two, err := json.Marshal(again.Manifest)
		require.NoError(t, err)
		require.Equal(t, string(one), string(two))
	})
}
