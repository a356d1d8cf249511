//go:build unix

package scratch

import (
	"os"
	"syscall"
)

// ours reports whether a folder belongs to this user, and is no link.
func ours(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
