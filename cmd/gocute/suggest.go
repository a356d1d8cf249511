package main

import (
	"cmp"
	"slices"
	"strings"
)

// nearest lists the names that are a slip away from the one given, nearest first.
func nearest(name string, names []string) []string {
	type hit struct {
		name string
		d    int
	}
	var hits []hit
	for _, n := range names {
		d := distance(strings.ToLower(name), strings.ToLower(n))
		if d <= max(2, len(name)/3) {
			hits = append(hits, hit{n, d})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.name, b.name)) })
	var out []string
	for _, h := range hits {
		if !slices.Contains(out, h.name) && len(out) < 3 {
			out = append(out, h.name)
		}
	}
	return out
}

// distance counts the insertions, removals and replacements between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
