package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 words", 1: "1 word", 2: "2 words", -1: "-1 words"} {
		require.Equal(t, want, Count(n, "word"))
	}
}
