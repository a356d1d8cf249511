//go:build !unix

package scratch

import "os"

// ours reports whether a folder is one, and no link: elsewhere the folder for temporary files is each user's own.
func ours(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}
