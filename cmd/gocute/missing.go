package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// notImported is what the type checker says of an import that the go command found no package for.
var notImported = regexp.MustCompile(`^(.*): could not import (\S+) \(invalid package name: ""\)$`)

// missing explains the imports that no module provides, once for each module of ours or package of others; it is nil if
// there are none. All that is undefined is a consequence, and left out.
func (s *session) missing(errs failure) error {
	at := map[string]string{}
	var paths []string
	for _, e := range errs {
		if m := notImported.FindStringSubmatch(e); m != nil && at[m[2]] == "" {
			at[m[2]] = m[1]
			paths = append(paths, m[2])
		}
	}
	if len(paths) == 0 {
		return nil
	}
	reasons := s.whyMissing(paths)
	var out failure
	fault, told := s.withoutGocute(reasons), false
	for _, path := range paths {
		switch {
		case fault == "" || !within(path, modulePath):
			out = append(out, fmt.Sprintf("%s: could not import %s: %s", at[path], path, cmp.Or(reasons[path], "the go command finds no such package")))
		case !told:
			told = true
			out = append(out, fault)
		}
	}
	return out
}

// whyMissing asks the go command why it finds no packages, by import path.
func (s *session) whyMissing(paths []string) map[string]string {
	out := map[string]string{}
	data, _ := s.output(append([]string{"list", "-e", "-json=ImportPath,Error", "--"}, paths...)...) // without an answer, no reason is known
	for dec := json.NewDecoder(strings.NewReader(string(data))); ; {
		var p struct {
			ImportPath string
			Error      *struct{ Err string }
		}
		if dec.Decode(&p) != nil {
			return out
		}
		if p.Error != nil {
			out[p.ImportPath] = strings.Join(strings.Fields(p.Error.Err), " ")
		}
	}
}

// withoutGocute says what is wrong with the user's go.mod where it gives no gocute, or "".
func (s *session) withoutGocute(reasons map[string]string) string {
	env, err := s.goEnv()
	get := fmt.Sprintf("go get %s@%s", modulePath, version().module())
	if err != nil || env.GOWORK != "" {
		for path, reason := range reasons {
			if within(path, modulePath) && strings.HasPrefix(reason, "no required module provides") {
				return fmt.Sprintf("no module of %s requires %s: run %s", cmp.Or(env.GOWORK, "the workspace"), modulePath, get)
			}
		}
		return ""
	}
	data, err := os.ReadFile(env.GOMOD)
	if err != nil {
		return ""
	}
	mod, err := modfile.Parse(env.GOMOD, data, nil)
	if err != nil || mod.Module == nil || mod.Module.Mod.Path == modulePath {
		return ""
	}
	for _, r := range mod.Replace {
		if r.Old.Path != modulePath || r.New.Version != "" {
			continue
		}
		dir := absolute(filepath.Dir(env.GOMOD), filepath.FromSlash(r.New.Path))
		fault := "has no go.mod"
		if _, err := os.Stat(dir); err != nil {
			fault = "does not exist"
		} else if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			continue
		}
		return fmt.Sprintf("%s:%d: the folder %s, which replaces %s, %s: correct the line, or remove it and run %s",
			env.GOMOD, r.Syntax.Start.Line, r.New.Path, modulePath, fault, get)
	}
	if slices.ContainsFunc(mod.Require, func(r *modfile.Require) bool { return r.Mod.Path == modulePath }) {
		return ""
	}
	return fmt.Sprintf("%s does not require %s, whose packages are imported: run %s", env.GOMOD, modulePath, get)
}
