//go:build !unix

package proc

import "os/exec"

// run bounds the wait for a cancelled command only: process groups are a thing of Unix.
func run(cmd *exec.Cmd, _ bool) error { return cmd.Run() }
