package main

import "testing"

// TestEmptyPath gives an empty path to every flag that takes one, before anything is loaded or written.
func TestEmptyPath(t *testing.T) {
	for _, c := range []struct {
		flag string
		args []string
	}{
		{"out", []string{"gen", ".", "-o", ""}},
		{"out", []string{"build", ".", "--out="}},
		{"out", []string{"show", "layout", "8:1", "-o", ""}},
		{"out", []string{"show", "page", "x.md", "-o", ""}},
		{"table", []string{"tune", "gemm", ".", "-o", ""}},
		{"bundle", []string{"tune", "gemm", ".", "--bundle", ""}},
		{"run", []string{"tune", "--run", ""}},
	} {
		gocute(t, t.TempDir(), c.args...).fails(t, 2, "gocute: --"+c.flag+": expected a path, but got \"\"\nRun gocute --help, or gocute COMMAND --help, for usage.\n")
	}
}

// Flags that are used in a wrong way are told of in words that help.
func TestMisusedFlags(t *testing.T) {
	const usage = "\nRun gocute --help, or gocute COMMAND --help, for usage.\n"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "k", "-sett", "n=5"}, `unknown flag --sett, did you mean one of "--set", "--seed"?`},
		{[]string{"list", "-jso"}, `unknown flag --jso, did you mean "--json"?`},
		{[]string{"run", "k", "-set"}, `--set: expected a value (NAME=VALUE,…), but the command line ends here`},
		{[]string{"gen", "-o"}, `--out: expected a value (path), but the command line ends here`},
		{[]string{"run", "k", "-set", "-on", "cpu"}, `--set: expected a value (NAME=VALUE,…), but got the flag "--on"`},
		{[]string{"run", "k", "--schedules", "-1"}, `--schedules: expected integers of at least 0, but got "-1"`},
		{[]string{"run", "k", "--schedules=-1"}, `--schedules: expected integers of at least 0, but got "-1"`},
		{[]string{"run", "k", "-set", "="}, `--set: expected NAME=VALUE,…, but got "=", which has no name`},
		{[]string{"run", "k", "-set", "n=1,=5"}, `--set: expected NAME=VALUE,…, but got "=5", which has no name`},
		{[]string{""}, `expected a command, a name or a package, but got ""`},
		{[]string{"version", ""}, `expected a command, a name or a package, but got ""`},
	} {
		gocute(t, t.TempDir(), c.args...).fails(t, 2, "gocute: "+c.want+usage)
	}
	gocute(t, t.TempDir(), "tune", "f", "--rounds", "-1").fails(t, 2, "gocute: --rounds: expected at least 1, but got -1\n")
	gocute(t, t.TempDir(), "list", "").fails(t, 1, "expected a package, but got \"\"\n")
}

// A name that is empty is seen in the message.
func TestEmptyKernelName(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale})
	for _, args := range [][]string{{"run", "", "./scale"}, {"check", "-k", "", "./scale"}} {
		gocute(t, dir, args...).fails(t, 1, "there is no kernel \"\" in example.com/user/scale; there are Scale, scale\n"+
			"scale/scale.go:36: Helper takes parameters: call it from an exported function without any\n")
	}
}
