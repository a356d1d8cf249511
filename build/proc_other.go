//go:build !unix

package build

import (
	"os/exec"
	"time"
)

// killGroup bounds the wait for a cancelled command; process groups are a
// thing of Unix.
func killGroup(cmd *exec.Cmd) { cmd.WaitDelay = 5 * time.Second }
