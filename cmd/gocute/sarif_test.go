package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/cmd/gocute/sarif"
	"github.com/gocute/gocute/emu"
)

// faulty is a package with a race (turn) and a kernel that the DSL refuses (unequal).
func faulty(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "tests", "sarif", "faulty", "faulty.go"))
	require.NoError(t, err)
	return string(data)
}

// validSARIF reads a log that has nothing beside what the types name, and what code scanning requires. tests/sarif holds
// logs against the schema of the standard.
func validSARIF(t *testing.T, data []byte) *sarif.Log {
	t.Helper()
	var log sarif.Log
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&log))
	require.Equal(t, "2.1.0", log.Version)
	require.Len(t, log.Runs, 1)
	require.Regexp(t, "^file:///.*/$", log.Runs[0].BaseIDs["%SRCROOT%"].URI)
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		for _, text := range []string{r.ID, r.Name, r.Short.Text, r.Full.Text, r.Help.Text, r.Help.Markdown, r.HelpURI, r.Configuration.Level} {
			require.NotEmpty(t, text, r.ID)
		}
	}
	for _, r := range log.Runs[0].Results {
		require.Equal(t, r.RuleID, log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID)
		require.NotEmpty(t, r.Message.Text)
		require.Len(t, r.Locations, 1)
		require.NotEmpty(t, r.Locations[0].Physical.Artifact.URI)
		require.Positive(t, r.Locations[0].Physical.Region.StartLine)
		require.NotEmpty(t, r.Fingerprints)
	}
	return &log
}

// TestSARIF writes findings of several kernels: a race with both of its lines, a mistake while recording, a kernel that is not there.
func TestSARIF(t *testing.T) {
	dir := foreign(t, map[string]string{"sub dir/.keep": "", "faulty/faulty.go": faulty(t), "scale/scale.go": scale})
	o := gocute(t, dir, "check", "-k", "turn", "-k", "scale", "-k", "unequal", "./faulty", "./scale", "--sarif", "sub dir/out.sarif")
	require.Equal(t, 1, o.status, o.stderr)
	data, err := os.ReadFile(filepath.Join(dir, "sub dir", "out.sarif"))
	require.NoError(t, err)
	run := validSARIF(t, data).Runs[0]
	rules := map[string]bool{}
	for _, r := range run.Results {
		rules[r.RuleID] = true
		require.NotContains(t, r.Message.Text, dir)
		at := r.Locations[0].Physical
		require.Equal(t, "%SRCROOT%", at.Artifact.BaseID, at.Artifact.URI)
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(at.Artifact.URI)))
		require.NoError(t, err)
		line := strings.Split(string(text), "\n")[at.Region.StartLine-1]
		switch r.RuleID {
		case "race":
			require.Contains(t, line, "Copy(get")
			require.Len(t, r.Related, 1)
			require.Equal(t, "faulty/faulty.go", r.Related[0].Physical.Artifact.URI)
			require.NotEqual(t, at.Region, r.Related[0].Physical.Region)
			require.Equal(t, "turn", r.Locations[0].Logical[0].Name)
		case "invalid-kernel":
			require.Contains(t, line, "FragmentLike(from.At(0))")
		case "budget-exceeded":
			require.Contains(t, line, "Copy(store")
		}
	}
	for _, want := range []string{"race", "invalid-kernel", "budget-exceeded"} {
		require.True(t, rules[want], "%s is missing in %s", want, data)
	}
	require.False(t, run.Invocations[0].Successful)

	// The fingerprint of a finding stays when its line moves.
	writeFiles(t, dir, map[string]string{"faulty/faulty.go": strings.Replace(faulty(t), "// Turn has", "//\n// Turn has", 1)})
	o = gocute(t, dir, "check", "turn", "./faulty", "--sarif=-")
	require.Equal(t, 1, o.status)
	require.True(t, strings.HasSuffix(o.stderr, "FAIL\n"), o.stderr)
	moved := validSARIF(t, []byte(o.stdout)).Runs[0]
	require.True(t, moved.Invocations[0].Successful)
	for i, r := range moved.Results {
		require.Equal(t, run.Results[i].Fingerprints, r.Fingerprints)
		require.Equal(t, run.Results[i].Locations[0].Physical.Region.StartLine+1, r.Locations[0].Physical.Region.StartLine)
	}
}

// TestSARIFOfNothing: a right kernel gives a log without results; what has no line is a notification.
func TestSARIFOfNothing(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale})
	log := validSARIF(t, []byte(gocute(t, dir, "check", "scale", "./scale", "--sarif", "-").ok(t).stdout))
	require.Empty(t, log.Runs[0].Results)
	require.Zero(t, log.Runs[0].Invocations[0].ExitCode)
	o := gocute(t, dir, "check", "scael", "./scale", "--sarif", "-")
	require.Equal(t, 1, o.status)
	log = validSARIF(t, []byte(o.stdout))
	require.Empty(t, log.Runs[0].Results)
	require.Contains(t, log.Runs[0].Invocations[0].Notifications[0].Message.Text, "there is no kernel scael")
	require.Equal(t, 2, gocute(t, dir, "check", "scale", "./scale", "--sarif", "-", "--json").status)
	require.Equal(t, 2, gocute(t, dir, "check", "scale", "./scale", "--sarif", "x", "--mutate").status)
	if os.Getuid() == 0 { // whoever may not write devices cannot damage them
		o = gocute(t, dir, "check", "scale", "./scale", "--sarif", "/dev/full")
		require.Equal(t, 1, o.status)
		require.Contains(t, o.stderr, "no space left on device")
		info, err := os.Stat("/dev/full")
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeDevice)
	}
}

// TestSARIFRoot: files are relative to the repository, not to the working folder; those outside are absolute.
func TestSARIFRoot(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{".git/HEAD": "", "mine/go.mod": "module mine\n", "mine/a b.go": "package mine\n"})
	log := sarif.New(sarif.Input{Dir: filepath.Join(dir, "mine"), Findings: []report.Finding{
		{Kind: "race", Message: "m", Position: report.Position{File: "a b.go", Line: 1}},
		{Kind: "race", Message: "m", Position: report.Position{File: "/elsewhere/x.go", Line: 2}},
		{Kind: "race", Message: "m", Position: report.Position{File: "a b.go", Line: 1}},
	}})
	data, err := log.Bytes()
	require.NoError(t, err)
	all := validSARIF(t, data).Runs[0].Results
	require.Equal(t, sarif.ArtifactLocation{URI: "mine/a%20b.go", BaseID: "%SRCROOT%"}, all[0].Locations[0].Physical.Artifact)
	require.Equal(t, sarif.ArtifactLocation{URI: "file:///elsewhere/x.go"}, all[1].Locations[0].Physical.Artifact)
	require.NotEqual(t, all[0].Fingerprints, all[2].Fingerprints, "two findings of one line are two")
}

// TestKindsComplete: every check of the emulator has a rule with its words, and docs/findings.md has a section for each.
func TestKindsComplete(t *testing.T) {
	var want strings.Builder
	want.WriteString("# Findings of gocute check\n\nEach kind is the ruleId in SARIF and the kind in JSON ([json.md](json.md)). `gocute help findings` prints this list.\n")
	ids := map[string]bool{}
	for _, k := range sarif.Kinds() {
		ids[k.ID] = true
		require.NotEmpty(t, k.Title, k.ID)
		require.NotEmpty(t, k.Means, k.ID)
		require.Greater(t, len(k.Remedy), 10, k.ID)
		want.WriteString("\n## " + k.ID + "\n" + k.Title + ". " + k.Means + "\n" + k.Remedy + "\n")
	}
	for _, c := range emu.Checks() {
		require.True(t, ids[string(c)], "%s has no rule", c)
	}
	golden(t, filepath.Join("..", "..", "docs", "findings.md"), want.String())
}

// golden compares with a file, or writes it with UPDATE=1.
func golden(t *testing.T, path, text string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(data), text, "UPDATE=1 rewrites %s", path)
}

// TestGitRoot: the root is git's.
func TestGitRoot(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		t.Skip("not a checkout of git")
	}
	dir, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(string(out)), sarif.Root(dir))
}

// A file that cannot be written is refused before the work, in the words of the command line.
func TestFilesToWrite(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale, "file": "", "d.svg/x": ""})
	sarif := []string{"check", "scale", "./scale", "--schedules", "0", "--sarif"}
	show := []string{"show", "layout", "(4,8):(8,1)", "-o"}
	for _, c := range []struct {
		args       []string
		name, want string
	}{
		{sarif, ".", "--sarif .: expected the name of a file, but it is a folder\n"},
		{sarif, "new/", "--sarif new/: expected the name of a file, but it is a folder\n"},
		{sarif, "new/x", "--sarif new/x: there is no folder " + "new: make it first\n"},
		{sarif, "/nowhere/x", "--sarif /nowhere/x: there is no folder /nowhere: make it first\n"},
		{sarif, "file/x", "--sarif file/x: file is a file, not a folder\n"},
		{show, "d.svg", "-o d.svg: expected the name of a file, but it is a folder\n"},
		{show, "file/x.svg", "-o file/x.svg: file is a file, not a folder\n"},
		{show, "/proc/x.svg", "-o /proc/x.svg: the file cannot be written: no such file or directory\n"},
	} {
		if strings.HasPrefix(c.name, "/proc/") && runtime.GOOS != "linux" {
			continue
		}
		before := tree(t, dir)
		o := gocute(t, dir, append(c.args[:len(c.args):len(c.args)], c.name)...)
		o.fails(t, 1, c.want)
		require.Empty(t, o.stdout)
		require.Equal(t, before, tree(t, dir))
	}
}
