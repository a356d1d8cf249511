package cuda

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChoose(t *testing.T) {
	cubin := func(a string) Image { return Image{Arch: a, Data: []byte{1}} }
	ptx := func(a string) Image { return Image{Arch: a, Data: []byte{1}, PTX: true} }
	for _, row := range []struct {
		name         string
		images       []Image
		major, minor int
		want         int // -1: none fits
	}{
		{"same", []Image{ptx("sm_80"), cubin("sm_90")}, 9, 0, 1},
		{"older minor of the same major", []Image{cubin("sm_80"), cubin("sm_86"), ptx("sm_80")}, 8, 9, 1},
		{"newer minor", []Image{cubin("sm_89"), ptx("sm_80")}, 8, 6, 1},
		{"another major", []Image{cubin("sm_80")}, 9, 0, -1},
		{"PTX goes forward", []Image{cubin("sm_80"), ptx("compute_80")}, 12, 1, 1},
		{"not back", []Image{ptx("compute_90")}, 8, 9, -1},
		{"nearest PTX", []Image{ptx("sm_70"), ptx("sm_80"), ptx("sm_100")}, 9, 0, 1},
		{"a is exact", []Image{cubin("sm_90"), cubin("sm_90a")}, 9, 0, 1},
		{"a does not go forward", []Image{cubin("sm_100a"), ptx("sm_90a"), ptx("sm_80")}, 10, 3, 2},
		{"f stays in the family", []Image{cubin("sm_100f"), ptx("sm_90")}, 10, 3, 0},
		{"family PTX", []Image{ptx("sm_100f"), ptx("sm_90")}, 12, 0, 1},
		{"empty", []Image{{Arch: "sm_90"}, ptx("sm_80")}, 9, 0, 1},
		{"nothing", nil, 9, 0, -1},
	} {
		got, err := choose(row.images, row.major, row.minor, false)
		assert.Equal(t, row.want, got, row.name)
		if row.want < 0 {
			assert.ErrorIs(t, err, ErrNoImage, row.name)
		}
	}
	_, err := choose([]Image{cubin("sm_80"), {Arch: "sm_90"}}, 9, 0, false)
	assert.EqualError(t, err, "cuda: no image for this device: expected a cubin of sm_90 to sm_90, or PTX of sm_90 or older, but got sm_80 cubin, sm_90 cubin (empty)")
	_, err = choose([]Image{cubin("hopper")}, 9, 0, false)
	assert.ErrorContains(t, err, `"hopper" is not an architecture`)
}

func TestParseArch(t *testing.T) {
	for s, want := range map[string]arch{"sm_90": {9, 0, 0}, "sm_90a": {9, 0, 'a'}, "compute_120f": {12, 0, 'f'}, "86": {8, 6, 0}} {
		got, err := parseArch(s)
		require.NoError(t, err)
		assert.Equal(t, want, got, s)
	}
	for _, s := range []string{"", "sm_", "sm_9", "sm_x0", "a"} {
		_, err := parseArch(s)
		assert.Error(t, err, s)
	}
}
