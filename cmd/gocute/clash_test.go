package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The package that two kernels would share is named, also where one of them has mistakes and so no generated code.
func TestClashNamesPackage(t *testing.T) {
	dir := foreign(t, map[string]string{
		"scale/scale.go": edit(t, `"scale"`, `"ok1"`),
		"wrong/k.go":     edit(t, "package scale", "package wrong", `"scale"`, `"OK1"`, "dsl.FragmentLike(t)", "dsl.FragmentLike(t.At(0))"),
		"right/k.go":     edit(t, "package scale", "package right", `"scale"`, `"OK1"`),
	})
	for _, args := range [][]string{{"gen", "./scale", "./right"}, {"list", "./scale", "./right"}, {"list", "./scale", "./right", "./wrong"}} {
		o := gocute(t, dir, args...)
		require.Equal(t, 1, o.status)
		require.Contains(t, o.stderr, "right/k.go:10: OK1: the kernel would share the package ok1 with the kernel ok1 at scale/scale.go:10")
	}
}
