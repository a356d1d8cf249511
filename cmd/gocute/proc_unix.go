//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup lets a cancelled context interrupt the go command together with the program that it runs, for it does
// not pass signals on.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
}

// killGroup ends what the interrupt did not.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
