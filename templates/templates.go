// Package templates holds the frames of the emitted text files: what is the same in every one of them.
// A frame has places to fill and no logic of its own.
package templates

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"text/template"
)

//go:embed *.tmpl
var files embed.FS

// sealMark begins the last line of a sealed text.
const sealMark = "// As printed: "

// Seal adds a last line by which Sealed knows a text that nobody has changed since.
func Seal(text []byte) []byte { return fmt.Appendf(text, "\n%s%s\n", sealMark, digest(text)) }

// Sealed reports whether a text is as Seal returned it.
func Sealed(text []byte) bool {
	at := bytes.LastIndex(text, []byte("\n"+sealMark))
	return at >= 0 && bytes.Equal(text, Seal(bytes.Clone(text[:at])))
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%x", sum[:8])
}

// Execute fills the frame of the given name, such as "kernel.cu", with the fields of data.
func Execute(name string, data any) ([]byte, error) {
	t, err := template.New(name+".tmpl").Option("missingkey=error").ParseFS(files, name+".tmpl")
	if err != nil {
		return nil, fmt.Errorf("templates: frame %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("templates: frame %s: %w", name, err)
	}
	return b.Bytes(), nil
}
