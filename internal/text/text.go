// Package text is wording that several packages share.
package text

import "fmt"

// Count is a number of things: 1 word, 2 words.
func Count[N ~int | ~int64 | ~uint64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
