package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd is gocute completion.
type completionCmd struct {
	Shell string `arg:"" name:"SHELL" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is shown by --help.
func (completionCmd) Help() string {
	return `Prints a script that completes commands, flags, their values and the functions that return kernels.

Examples:

  source <(gocute completion bash)                                # in ~/.bashrc
  source <(gocute completion zsh)                                 # in ~/.zshrc, after compinit
  gocute completion fish > ~/.config/fish/completions/gocute.fish`
}

// Run prints the script.
func (c *completionCmd) Run(s *session) error {
	fmt.Fprint(s.stdout, completionScripts[c.Shell])
	return nil
}

// completionScripts ask the hidden command __complete with the words up to the cursor. It answers a line for each
// candidate, with its help behind a tab, or one of the lines :files and :folders.
var completionScripts = map[string]string{
	"bash": `# bash completion for gocute
_gocute() {
    local cur=${COMP_WORDS[COMP_CWORD]} line
    COMPREPLY=()
    while IFS= read -r line; do
        line=${line%%$'\t'*}
        case $line in
        :files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "${cur#=}"); return ;;
        :folders) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "${cur#=}"); return ;;
        esac
        [[ $cur != -* ]] && line=${line#--*=}
        COMPREPLY+=("$line")
    done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _gocute gocute
`,
	"zsh": `#compdef gocute
_gocute() {
    local line
    local -a candidates
    while IFS= read -r line; do
        case $line in
        :files) _files; return ;;
        :folders) _files -/; return ;;
        esac
        line=${line//:/\\:}
        candidates+=("${line/$'\t'/:}")
    done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    _describe gocute candidates
}
if [ "$funcstack[1]" = "_gocute" ]; then _gocute "$@"; else compdef _gocute gocute; fi
`,
	"fish": `# fish completion for gocute
function __gocute_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines ($words[1] __complete -- $words[2..-1] 2>/dev/null)
    switch "$lines[1]"
        case :files
            __fish_complete_path (commandline -ct)
        case :folders
            __fish_complete_directories (commandline -ct)
        case '*'
            printf '%s\n' $lines
    end
end
complete -c gocute -f -a '(__gocute_complete)'
`,
}

// completeCmd is what the scripts call.
type completeCmd struct {
	Words []string `arg:"" optional:"" help:"The words up to the cursor, the last of which is to be completed."`
}

// Run prints the candidates.
func (c *completeCmd) Run(s *session, ctx *kong.Context) error {
	words := c.Words
	if len(words) == 0 {
		words = []string{""}
	}
	for _, line := range newCompletion(s, ctx.Model.Node).candidates(joinAssignments(words)) {
		fmt.Fprintln(s.stdout, line)
	}
	return nil
}

// joinAssignments undoes what bash does to --flag=value, which are three words there.
func joinAssignments(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		n := len(out)
		switch {
		case words[i] == "=" && n > 0 && strings.HasPrefix(out[n-1], "-"):
			out[n-1] += "="
			if i+1 < len(words) {
				i++
				out[n-1] += words[i]
			}
		default:
			out = append(out, words[i])
		}
	}
	return out
}
