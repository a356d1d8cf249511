package build

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPins compares the pins with the wheels of both architectures in the folder GOCUTE_WHEELS.
func TestPins(t *testing.T) {
	folder := os.Getenv("GOCUTE_WHEELS")
	if folder == "" {
		t.Skip("GOCUTE_WHEELS names no folder of wheels")
	}
	for _, arch := range []struct {
		wheels string
		of     func(byArch) string
	}{
		{"x86_64", func(b byArch) string { return b.amd64 }},
		{"aarch64", func(b byArch) string { return b.arm64 }},
	} {
		for _, p := range []pack{nvccPack(), nvrtcPack()} {
			files := map[string]listed{}
			for _, w := range p.wheels {
				name, version, _ := strings.Cut(w.pin, "==")
				found, err := filepath.Glob(filepath.Join(folder, strings.ReplaceAll(name, "-", "_")+"-"+version+"-*"+arch.wheels+".whl"))
				require.NoError(t, err)
				require.Len(t, found, 1, "%s for %s", w.pin, arch.wheels)
				data, err := os.ReadFile(found[0])
				require.NoError(t, err)
				assert.Equal(t, arch.of(w.hash), digest(string(data)), found[0])
				unpack(t, found[0], files)
			}
			var list []listed
			for _, f := range files {
				list = append(list, f)
			}
			assert.Equal(t, arch.of(p.tree), digest(listText(list)), "the tree of %s for %s", p.compiler, arch.wheels)
		}
	}
}

// unpack lists the files of a wheel, as pip puts them.
func unpack(t *testing.T, path string, files map[string]listed) {
	z, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, filesBelow+"/") || strings.HasSuffix(f.Name, "/") {
			continue
		}
		r, err := f.Open()
		require.NoError(t, err)
		h := sha256.New()
		n, err := io.Copy(h, r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		got := listed{f.Name, hex.EncodeToString(h.Sum(nil)), n, f.Mode()&0o111 != 0}
		if old, ok := files[f.Name]; ok {
			require.Equal(t, old, got, "two wheels have it")
		}
		files[f.Name] = got
	}
}

// TestPinsAreComplete holds without the wheels.
func TestPinsAreComplete(t *testing.T) {
	for _, p := range []pack{nvccPack(), nvrtcPack()} {
		hashes := []string{p.tree.amd64, p.tree.arm64}
		for _, w := range p.wheels {
			hashes = append(hashes, w.hash.amd64, w.hash.arm64)
			require.Regexp(t, `^[a-z-]+==[0-9.]+$`, w.pin)
		}
		for i, h := range hashes {
			require.Regexp(t, `^[0-9a-f]{64}$`, h)
			require.NotContains(t, hashes[:i], h)
		}
	}
}

// TestInstalledTreeIsThePinnedOne looks at a real installation, if this machine has one.
func TestInstalledTreeIsThePinnedOne(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is pinned for this machine")
	}
	cache, err := cacheDir(Options{})
	require.NoError(t, err)
	for _, p := range []pack{nvccPack(), nvrtcPack()} {
		in := newInstaller(p, Options{}, cache)
		if _, err := os.Stat(in.path()); err != nil {
			t.Logf("no %s in %s", p.compiler, cache)
			continue
		}
		_, err := in.listPinned(in.dir)
		require.NoError(t, err)
	}
}
