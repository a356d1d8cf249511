package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// progress shows how far something is: a bar on a terminal, a line now and then elsewhere.
type progress struct {
	to       io.Writer
	terminal bool
	what     string
	last     time.Time
	shown    int // characters of the bar that stand there
}

const (
	barWidth    = 30
	quietBefore = 10 * time.Second // the next line about the same
)

func newProgress(to io.Writer) *progress {
	p := &progress{to: to}
	if f, ok := to.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// show says that so many of so many steps are done.
func (p *progress) show(what string, done, of int) {
	if p.terminal {
		full := barWidth * done / max(of, 1)
		line := fmt.Sprintf("%s [%s%s] %d/%d", what, strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), done, of)
		fmt.Fprintf(p.to, "\r%-*s", p.shown, line)
		p.shown = len(line)
		return
	}
	if what == p.what && time.Since(p.last) < quietBefore {
		return
	}
	p.what, p.last = what, time.Now()
	fmt.Fprintf(p.to, "gocute: %s %d of %d\n", what, done, of)
}

// end leaves the bar's line.
func (p *progress) end() {
	if p.shown > 0 {
		fmt.Fprintln(p.to)
	}
}
