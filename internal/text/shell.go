package text

import "strings"

// Shell is a command line for a POSIX shell that passes on each word as it is. Control characters are kept: they are part
// of the word.
func Shell(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shellWord(w)
	}
	return strings.Join(out, " ")
}

// shellWord quotes a word that has anything but letters, digits and what no shell gives a meaning within a word.
func shellWord(w string) string {
	plain := w != "" && w[0] != '=' && strings.IndexFunc(w, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+,=", r))
	}) < 0
	if plain {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
