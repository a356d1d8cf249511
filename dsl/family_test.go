package dsl

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFamily(t *testing.T) {
	kernel := func() *Kernel { return nil }
	f := &Family{Name: "gemm"}
	f.Add("64x64", kernel)
	f.Add("64x128_s3", kernel)
	require.NoError(t, f.Err())
	f.Add("64x64", kernel)
	f.Add("a b", kernel)
	f.Add("none", nil)
	require.EqualError(t, f.Err(), `family "gemm": candidate 2: expects a config of its own, but 64x64 is another's
family "gemm": candidate 3: expects a config of at most 100 letters, digits, _, ., + and -, but got "a b"
family "gemm": candidate none: expects a function, but got nil`)
	require.EqualError(t, (&Family{Name: "1"}).Err(), "family \"1\": expects a name that is an identifier of at most 100 letters\nfamily \"1\": expects at least one candidate, but has none")
}
