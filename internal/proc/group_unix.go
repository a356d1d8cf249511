//go:build unix

package proc

import (
	"os"
	"os/exec"
	"syscall"
)

// watch waits until the pipe at its standard input is closed, which happens when the only process that holds the other end
// ends, and kills its own process group. It does not end by the signals that the group is sent.
const watch = `trap "" INT TERM HUP QUIT; read x; kill -KILL 0`

// run runs a command in a process group whose leader is a watchdog. As long as the leader has not been waited for, no other
// group can get its number, so the group that is killed is always ours.
func run(cmd *exec.Cmd, interrupt bool) error {
	leader, release, err := watchdog()
	if err != nil { // no shell: the command leads its own group, and only this process can end it
		leader = 0
	} else {
		defer release()
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: leader}
	first := syscall.SIGKILL
	if interrupt {
		first = syscall.SIGINT
	}
	group := func() int {
		if leader != 0 {
			return leader
		}
		return cmd.Process.Pid
	}
	cmd.Cancel = func() error { return syscall.Kill(-group(), first) }
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-group(), syscall.SIGKILL) // what the command left running, and the watchdog
	}
	return err
}

// watchdog starts one and returns its group; release ends it.
func watchdog() (group int, release func(), err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	defer r.Close()
	dog := exec.Command("/bin/sh", "-c", watch)
	dog.Dir, dog.Env, dog.Stdin = "/", []string{}, r
	dog.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := dog.Start(); err != nil {
		_ = w.Close()
		return 0, nil, err
	}
	return dog.Process.Pid, func() {
		_ = syscall.Kill(-dog.Process.Pid, syscall.SIGKILL)
		_ = dog.Wait()
		_ = w.Close()
	}, nil
}
