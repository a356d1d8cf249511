// Package report holds the objects that gocute prints with --json, one for each command. docs/json.md shows an example
// of each.
//
// Keys are lowerCamelCase, and a unit that is not a count is a part of the key: seconds, bytes. A key that does not
// apply is left out. Files are relative to the working folder where they are below it, else absolute. JSON has no NaN
// and no infinities: a Number is a string there.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// Number is a float64. NaN and the infinities are the strings "NaN", "Infinity" and "-Infinity".
type Number float64

// MarshalJSON prints a number, or a string where it is not finite.
func (n Number) MarshalJSON() ([]byte, error) {
	switch f := float64(n); {
	case math.IsNaN(f):
		return []byte(`"NaN"`), nil
	case math.IsInf(f, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return json.Marshal(f)
	}
}

// UnmarshalJSON reads what MarshalJSON prints.
func (n *Number) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		switch text {
		case "NaN", "Infinity", "-Infinity":
			f, err := strconv.ParseFloat(text, 64)
			*n = Number(f)
			return err
		}
		return fmt.Errorf("expected a number, \"NaN\", \"Infinity\" or \"-Infinity\", but got %q", text)
	}
	var f float64
	err := json.Unmarshal(data, &f)
	*n = Number(f)
	return err
}

// Numbers makes Numbers of a map's values.
func Numbers(m map[string]float64) map[string]Number {
	if m == nil {
		return nil
	}
	out := make(map[string]Number, len(m))
	for k, v := range m {
		out[k] = Number(v)
	}
	return out
}

// Position is a line of a source file. The zero Position is none.
type Position struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"` // from 1
}

// Error is why a command failed.
type Error struct {
	Message  string `json:"message"` // without the position; further lines say what to do
	Position        // of the user's line, if one is to blame
}

// Failure is a part of every object.
type Failure struct {
	// Errors are why the exit status is not 0, and are left out where it is 0.
	Errors []Error `json:"errors,omitempty"`
}

// Fail adds errors.
func (f *Failure) Fail(errs ...Error) { f.Errors = append(f.Errors, errs...) }

// Failed reports whether there are errors.
func (f *Failure) Failed() bool { return len(f.Errors) > 0 }

// Answer is the object of a command.
type Answer interface {
	Fail(errs ...Error)
	Failed() bool
}

// Unknown is the object where the command line could not be read.
type Unknown struct{ Failure }

// Version is the object of gocute version.
type Version struct {
	Version  string `json:"version"`            // such as v1.2.3, or devel
	Revision string `json:"revision,omitempty"` // of the source, the first 12 digits
	Go       string `json:"go"`                 // the Go version that built the command
	OS       string `json:"os"`
	Arch     string `json:"arch"` // such as amd64
	Failure
}

// Bytes is the object as gocute prints it: indented, with a newline at its end. Lists that are empty are [], and maps {}, not null.
func Bytes(a Answer) ([]byte, error) {
	lists(reflect.ValueOf(a))
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(a)
	return b.Bytes(), err
}

// lists makes empty lists of nil ones, so that programs can go over them without a question.
func lists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			lists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			lists(v.Field(i))
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			lists(v.Index(i))
		}
	}
}
