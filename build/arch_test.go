package build

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArchsOf(t *testing.T) {
	for _, c := range []struct {
		least   int
		exactly bool
		cubins  []string
		ptx     string
	}{
		{80, false, []string{"sm_80", "sm_90"}, "compute_80"},
		{89, false, []string{"sm_90"}, "compute_89"},
		{90, false, []string{"sm_90"}, "compute_90"},
		{90, true, []string{"sm_90a"}, "compute_90a"},
		{100, false, []string{"sm_100"}, "compute_100"},
	} {
		cubins, ptx := ArchsOf(c.least, c.exactly)
		require.Equal(t, c.cubins, cubins)
		require.Equal(t, c.ptx, ptx)
	}
	require.Equal(t, "sm_90a", ArchFor("sm_90", true))
	require.Equal(t, "sm_90a", ArchFor("sm_90a", true))
	require.Equal(t, "sm_90", ArchFor("sm_90", false))
	for _, name := range []string{NameNVCC, NameNVRTC} {
		c := &Common{Name: name, Targets: []string{"sm_80", "sm_90"}}
		require.True(t, c.Supports("sm_90") && c.Supports("sm_90a"))
		require.False(t, c.Supports("sm_100a"))
	}
}
