package main

import (
	"errors"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// negative is a negative number, which is no flag.
var negative = regexp.MustCompile(`^-[0-9]+$`)

// longFlags lets flags of several letters have one dash, as Go's tools do: -set is --set, and so is a slip of it, for which
// the parser then knows a near one. A negative number behind a flag is its value.
func longFlags(model *kong.Node, args []string) []string {
	takesValue := map[string]bool{} // by name
	short := ""
	_ = kong.Visit(model, func(n kong.Visitable, next kong.Next) error {
		if f, ok := n.(*kong.Flag); ok && len(f.Name) > 1 {
			takesValue[f.Name] = !f.IsBool()
			if f.Short != 0 {
				short += string(f.Short)
			}
		}
		return next(nil)
	})
	var names []string
	for name := range takesValue {
		names = append(names, name)
	}
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return append(out, args[i:]...)
		}
		name, _, joined := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if strings.HasPrefix(a, "-") {
			_, known := takesValue[name]
			if known || len(name) > 2 && a[1] != '-' && !strings.Contains(short, name[:1]) && len(nearest(name, names)) > 0 {
				a = "-" + a
			}
		}
		if takesValue[strings.TrimPrefix(a, "--")] && !joined && i+1 < len(args) && negative.MatchString(args[i+1]) {
			i++
			a += "=" + args[i]
		}
		out = append(out, a)
	}
	return out
}

// ofParser are messages of the parser that say less than they could, with what is said in their place.
var ofParser = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`^(--\S+): expected (.+) value but got "EOL" \(<EOL>\)$`), `$1: expected a value ($2), but the command line ends here`},
	{regexp.MustCompile(`^(--\S+): expected (.+) value but got ("-.*") \((?:short|long) flag\); perhaps try .*$`), `$1: expected a value ($2), but got the flag $3`},
	{regexp.MustCompile(`^(--\S+): expected a valid 64 bit uint but got (".*")$`), `$1: expected integers of at least 0, but got $2`},
	{regexp.MustCompile(`^unexpected argument (?:,.*)?$`), `expected a command, a name or a package, but got ""`},
}

// misused is the parser's error in words of ours, where those say more.
func misused(err error) error {
	for _, m := range ofParser {
		if m.pattern.MatchString(err.Error()) {
			return errors.New(m.pattern.ReplaceAllString(err.Error(), m.text))
		}
	}
	return err
}
