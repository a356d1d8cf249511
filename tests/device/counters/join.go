package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// metric is a counter of the hardware, and what it is to equal.
type metric struct {
	name  string
	means quantity
	// loose counters also count passes that are no access's own, such as those lost to arbitration between the warps, or
	// of a cp.async whose data arrive in parts; they may exceed the prediction.
	loose bool
}

const (
	passes    = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
	conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
	sectors   = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
	requests  = "l1tex__t_requests_pipe_lsu_mem_global_op_"
	sass      = "smsp__sass_l1tex_data_"
)

// metrics may not all be there on a chip: ncu's own list decides. Those that start with smsp__sass are counted by
// instruction, the others where the data pass.
var metrics = []metric{
	{sass + "pipe_lsu_wavefronts_mem_shared.sum", allWaves, false},
	{sass + "bank_conflicts_pipe_lsu_mem_shared.sum", allConflicts, false},
	{sass + "bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", ldConflicts, false},
	{sass + "pipe_lsu_wavefronts_mem_shared_op_st.sum", stWaves, false},
	{sass + "bank_conflicts_pipe_lsu_mem_shared_op_st.sum", stConflicts, false},
	{sass + "bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum", asyncConflicts, true},
	{sass + "pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum", asyncWaves, true},
	{passes + "_op_ld.sum", ldWaves, true},
	{passes + "_op_st.sum", stWaves, true},
	{conflicts + ".sum", allConflicts, true},
	{conflicts + "_op_ld.sum", ldConflicts, true},
	{conflicts + "_op_st.sum", stConflicts, true},
	{sectors + "ld.sum", ldSectors, true}, // a cp.async whose shared memory writes are split asks again
	{sectors + "st.sum", stSectors, false},
	{requests + "ld.sum", ldRequests, false},
	{requests + "st.sum", stRequests, false},
	{"smsp__inst_executed_op_ldsm.sum", ldsmCount, false},
	{"smsp__inst_executed_op_ldgsts.sum", asyncCount, false},
}

// groupSize keeps one unusable metric from taking many others with it: ncu then measures none of its group.
const groupSize = 6

// groups are the metrics in bundles to ask for together: those that ncu's list names, by the first word of a line,
// and each other one by itself, for the list may not have all that ncu can measure.
func groups(list string) [][]string {
	known := map[string]bool{}
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) > 0 {
			known[f[0]] = true
		}
	}
	var listed []string
	var single [][]string
	for _, m := range metrics {
		base, _, _ := strings.Cut(m.name, ".")
		if known[base] || known[m.name] {
			listed = append(listed, m.name)
		} else {
			single = append(single, []string{m.name})
		}
	}
	return append(slices.Collect(slices.Chunk(listed, groupSize)), single...)
}

// measured are a kernel's metrics.
type measured map[string]int64

// readNCU reads one file of ncu --csv, which may have other lines before the head.
func readNCU(path string, into map[string]measured) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, table, found := strings.Cut("\n"+string(data), "\n\"ID\"")
	if !found { // a group that failed
		return nil
	}
	r := csv.NewReader(strings.NewReader("\"ID\"" + table))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	at := map[string]int{}
	for i, h := range rows[0] {
		at[h] = i
	}
	for _, h := range []string{"Kernel Name", "Metric Name", "Metric Value"} {
		if _, ok := at[h]; !ok {
			return fmt.Errorf("%s: there is no column %s", path, h)
		}
	}
	for _, row := range rows[1:] {
		if len(row) < len(rows[0]) {
			continue
		}
		kernel, _, _ := strings.Cut(row[at["Kernel Name"]], "(")
		v, err := strconv.ParseFloat(strings.ReplaceAll(row[at["Metric Value"]], ",", ""), 64)
		if err != nil { // "n/a"
			continue
		}
		if into[kernel] == nil {
			into[kernel] = measured{}
		}
		into[kernel][row[at["Metric Name"]]] = int64(v)
	}
	return nil
}

// printTable prints every count, then a line for each metric, then those that are not all equal and a total: the end
// of the output is a summary.
func printTable(ctx context.Context, files []string) error {
	names, predicted, err := predictions(ctx)
	if err != nil {
		return err
	}
	all := map[string]measured{}
	for _, f := range files {
		if err := readNCU(f, all); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return errors.New("ncu measured nothing")
	}
	out := &strings.Builder{}
	fmt.Fprintf(out, "%-22s %-26s %9s %9s  %-9s %s\n", "kernel", "quantity", "predicted", "measured", "", "metric")
	var differ []string
	sums := make([]tally, len(metrics))
	for _, n := range names {
		for i, m := range metrics {
			v, ok := all[n][m.name]
			want := predicted[n][m.means]
			if !ok || v == 0 && want == 0 && strings.Contains(string(m.means), "cp.async") {
				continue
			}
			state := sums[i].add(m, want, v)
			line := fmt.Sprintf("%-22s %-26s %9d %9d  %-9s %s", n, m.means, want, v, state, m.name)
			fmt.Fprintln(out, line)
			if state == different {
				differ = append(differ, line)
			}
		}
	}
	printSums(out, sums, len(all))
	if _, err := fmt.Print(out); err != nil {
		return err
	}
	if len(differ) > 0 {
		return fmt.Errorf("%d counts differ, the first:\n%s", len(differ), strings.Join(differ[:min(len(differ), 8)], "\n"))
	}
	return nil
}

func printSums(out *strings.Builder, sums []tally, kernels int) {
	fmt.Fprintf(out, "\n%-66s %-26s %5s %5s %9s\n", "metric", "held against", "equal", "more", "different")
	var uneven []string
	var total tally
	used := 0
	for i, m := range metrics {
		s := sums[i]
		if s == (tally{}) {
			fmt.Fprintf(out, "%-66s not measured here\n", m.name)
			continue
		}
		used++
		line := fmt.Sprintf("%-66s %-26s %5d %5d %9d", m.name, m.means, s.equal, s.more, s.different)
		fmt.Fprintln(out, line)
		if s.more+s.different > 0 {
			uneven = append(uneven, line)
		}
		total = tally{total.equal + s.equal, total.more + s.more, total.different + s.different}
	}
	fmt.Fprintf(out, "\nnot all equal:\n")
	for _, line := range uneven {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintf(out, "%d metrics, %d of %d kernels: %d counts equal, %d more than predicted where the counter also counts other passes, %d different\n",
		used, kernels, len(probes()), total.equal, total.more, total.different)
}

const different = "DIFFERENT"

// tally counts how a metric compares with the predictions.
type tally struct{ equal, more, different int }

func (t *tally) add(m metric, want, got int64) string {
	switch {
	case got == want:
		t.equal++
		return "equal"
	case m.loose && got > want:
		t.more++
		return "more"
	}
	t.different++
	return different
}
