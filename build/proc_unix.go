//go:build unix

package build

import (
	"os/exec"
	"syscall"
	"time"
)

// killGroup makes a cancelled command take its children along: nvcc and pip
// both start processes that would go on without them.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
}
