package scratch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
)

func TestSweepLeavesWhatIsNotProvablyOursAndDead(t *testing.T) {
	parent := t.TempDir()
	folder := func(name string, files ...string) string {
		dir := filepath.Join(parent, name)
		require.NoError(t, os.Mkdir(dir, 0o777))
		for _, f := range files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, f), nil, 0o666))
		}
		return dir
	}
	live, err := New(parent, Prefix)
	require.NoError(t, err)
	dead := folder(Prefix+"dead", mark, "data")
	unmarked := folder(Prefix+"unmarked", "data")
	half := folder(Prefix+"half", mark+".new")
	other := folder("else", mark)
	target := folder("target", mark)
	link := filepath.Join(parent, Prefix+"link")
	require.NoError(t, os.Symlink(target, link))
	false1 := folder(Prefix + "linked-mark")
	require.NoError(t, os.Symlink(filepath.Join(target, mark), filepath.Join(false1, mark)))
	Sweep(parent, Prefix)
	require.NoDirExists(t, dead)
	for _, dir := range []string{live.Path, unmarked, half, other, target, false1} {
		require.DirExists(t, dir)
	}
	require.FileExists(t, filepath.Join(target, mark))
	require.FileExists(t, filepath.Join(link, mark))
	live.Remove()
	require.NoDirExists(t, live.Path)
}

func TestSweepWhileAnotherSweeps(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, Prefix+"1")
	require.NoError(t, os.Mkdir(dir, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, mark), nil, 0o666))
	other := flock.New(filepath.Join(dir, mark))
	ok, err := other.TryLock()
	require.NoError(t, err)
	require.True(t, ok)
	Sweep(parent, Prefix)
	require.DirExists(t, dir)
	require.NoError(t, other.Close())
	Sweep(parent, Prefix)
	require.NoDirExists(t, dir)
}
