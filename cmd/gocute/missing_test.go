package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A go.mod that gives no gocute is told of once, with what to do.
func TestModuleWithoutGocute(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale, "other/other.go": "package other\n\nimport _ \"example.com/nowhere/at/all\"\n"})
	t.Setenv("GOPROXY", "off")
	get := "go get github.com/gocute/gocute@" + version().module() + "\n"
	replaced := "module example.com/user\n\ngo 1.26.0\n\nrequire github.com/gocute/gocute v0.0.0\n\nreplace github.com/gocute/gocute => "
	for _, c := range []struct{ name, mod, want string }{
		{"not required", "module example.com/user\n\ngo 1.26.0\n", "go.mod does not require github.com/gocute/gocute, whose packages are imported: run " + get},
		{"no folder", replaced + "/nowhere\n", "go.mod:7: the folder /nowhere, which replaces github.com/gocute/gocute, does not exist: correct the line, or remove it and run " + get},
		{"no module", replaced + "./scale\n", "go.mod:7: the folder ./scale, which replaces github.com/gocute/gocute, has no go.mod: correct the line, or remove it and run " + get},
	} {
		t.Run(c.name, func(t *testing.T) {
			writeFiles(t, dir, map[string]string{"go.mod": c.mod})
			for _, command := range [][]string{{"list", "./scale"}, {"check", "scale", "./scale"}} {
				gocute(t, dir, command...).fails(t, 1, c.want)
			}
		})
	}
	writeFiles(t, dir, map[string]string{"go.mod": foreignMod(t, "example.com/user")})
	o := gocute(t, dir, "list", "./other")
	require.Equal(t, 1, o.status)
	require.Regexp(t, `^other/other.go:3:10: could not import example.com/nowhere/at/all: [^\n]+\n$`, o.stderr)
	require.NotContains(t, o.stderr, "invalid package name")
}
