package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table prints aligned columns, without blanks at the ends of lines.
type table struct {
	to   io.Writer
	rows [][]string
}

func newTable(to io.Writer, titles ...string) *table {
	return &table{to: to, rows: [][]string{titles}}
}

func (t *table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, texts)
}

func (t *table) flush() {
	width := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, row := range t.rows {
		var b strings.Builder
		for i, c := range row {
			fmt.Fprintf(&b, "%-*s  ", width[i], c)
		}
		fmt.Fprintln(t.to, strings.TrimRight(b.String(), " "))
	}
}
