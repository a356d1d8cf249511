// Command counters holds the emulator's bank conflicts and sectors against the GPU's hardware counters:
//
//	counters -predict             prints what the emulator counts, as CSV
//	counters -metrics names.txt   lists the groups of metrics to ask ncu for, of those that the file names
//	counters -launch              launches every kernel once; to be run under ncu --csv
//	counters -join a.csv,b.csv    prints the table of both; it fails where one of them differs without an explanation
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen/cir"
)

func main() {
	predict := flag.Bool("predict", false, "print what the emulator counts, as CSV")
	launch := flag.Bool("launch", false, "launch every kernel once on the GPU")
	metrics := flag.String("metrics", "", "a file with the names that ncu knows; print the groups to ask for")
	join := flag.String("join", "", "CSV files of ncu, separated by commas; print the table")
	flag.Parse()
	if err := run(*predict, *launch, *metrics, *join); err != nil {
		fmt.Fprintln(os.Stderr, "counters:", err)
		os.Exit(1)
	}
}

func run(predict, launch bool, metrics, join string) error {
	ctx := context.Background()
	switch {
	case predict:
		return printPrediction(ctx)
	case launch:
		return launchAll(ctx)
	case metrics != "":
		known, err := os.ReadFile(metrics)
		if err != nil {
			return err
		}
		for _, g := range groups(string(known)) {
			if _, err := fmt.Println(strings.Join(g, ",")); err != nil {
				return err
			}
		}
		return nil
	case join != "":
		return printTable(ctx, strings.Split(join, ","))
	}
	return errors.New("expected -predict, -launch, -metrics or -join")
}

// quantity is a count of one kind over a whole launch.
type quantity string

// The quantities. A bank conflict is a pass over the banks beyond the least possible.
const (
	ldWaves, ldConflicts       quantity = "shared load passes", "shared load conflicts" // ldmatrix included
	stWaves, stConflicts       quantity = "shared store passes", "shared store conflicts"
	asyncWaves, asyncConflicts quantity = "cp.async shared passes", "cp.async shared conflicts"
	allWaves, allConflicts     quantity = "all shared passes", "all shared conflicts"
	ldSectors, stSectors       quantity = "global load sectors", "global store sectors"
	ldRequests, stRequests     quantity = "global load requests", "global store requests"
	ldsmCount, asyncCount      quantity = "ldmatrix instructions", "cp.async instructions"
)

var quantities = []quantity{ldWaves, ldConflicts, stWaves, stConflicts, asyncWaves, asyncConflicts, allWaves, allConflicts,
	ldSectors, ldRequests, stSectors, stRequests, ldsmCount, asyncCount}

// counts are a kernel's quantities.
type counts map[quantity]int64

// shared and global say what an access of a kind adds to.
var (
	shared = map[string][2]quantity{"load.shared": {ldWaves, ldConflicts}, "ldmatrix": {ldWaves, ldConflicts},
		"store.shared": {stWaves, stConflicts}, "cp.async": {asyncWaves, asyncConflicts}}
	global = map[string][2]quantity{"load.global": {ldSectors, ldRequests}, "store.global": {stSectors, stRequests},
		"cp.async": {ldSectors, ldRequests}} // the hardware counts them as loads
)

func countsOf(rep *emu.Report) counts {
	c := counts{ldsmCount: rep.Counts.Instructions["ldmatrix"], asyncCount: rep.Counts.Instructions["cp.async"]}
	for i := range rep.Accesses {
		a := &rep.Accesses[i]
		if a.Space == cir.Global {
			q := global[a.Kind]
			c[q[0]] += a.Sectors
			c[q[1]] += a.Requests
			continue
		}
		q := shared[a.Kind]
		c[q[0]] += a.Wavefronts
		c[q[1]] += a.Conflicts()
		c[allWaves] += a.Wavefronts
		c[allConflicts] += a.Conflicts()
	}
	return c
}

// predictions runs every probe in the emulator, with all checks: a kernel that is wrong measures nothing.
func predictions(ctx context.Context) (names []string, all map[string]counts, err error) {
	all = map[string]counts{}
	for _, p := range probes() {
		res, err := check.Run(ctx, p.kernel, p.args, check.Options{On: check.CPU})
		if err == nil {
			err = res.Err()
		}
		if err != nil {
			return nil, nil, err
		}
		names = append(names, p.kernel.Name())
		all[p.kernel.Name()] = countsOf(res.Report)
	}
	return names, all, nil
}

func printPrediction(ctx context.Context) error {
	names, all, err := predictions(ctx)
	if err != nil {
		return err
	}
	w := csv.NewWriter(os.Stdout)
	rows := [][]string{{"kernel", "quantity", "predicted"}}
	for _, n := range names {
		for _, q := range quantities {
			if v := all[n][q]; v != 0 || !strings.Contains(string(q), "cp.async") && !strings.Contains(string(q), "ldmatrix") {
				rows = append(rows, []string{n, string(q), strconv.FormatInt(v, 10)})
			}
		}
	}
	return w.WriteAll(rows)
}

func launchAll(ctx context.Context) error {
	for _, p := range probes() {
		if _, err := check.RunRaw(ctx, p.kernel, p.args, check.Options{On: check.GPU}); err != nil {
			return err
		}
	}
	return nil
}
