// Package templates holds the frames of the emitted text files: what is the same in every one of them.
// A frame has places to fill and no logic of its own.
package templates

import (
	"bytes"
	"embed"
	"fmt"
	"text/template"
)

//go:embed *.tmpl
var files embed.FS

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
