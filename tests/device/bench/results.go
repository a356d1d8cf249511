package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// row is a line of the results. A clock or a share of 0 is not known.
type row struct {
	device, data, types, layout string
	size
	candidate        string
	median, p10, p90 float64 // microseconds of one launch
	tflops           float64 // by the median
	ghz              float64 // read inside the running kernel
	share            float64 // of the tensor pipe, 1 being all of it
	mark             string  // of the best of our kernels, for people to read
}

var head = []string{"device", "data", "type", "layout", "m", "n", "k", "candidate", "median_us", "p10_us", "p90_us", "tflops", "ghz", "pipe_share", "batch"}

// summary makes a row of a candidate's times; share is left to the caller.
func summary(name, data string, c *candidate, s size, t timing, ghz float64) row {
	us := func(q float64) float64 { return quantile(t.times, q) / 1e3 }
	r := row{device: name, data: data, types: c.types(), layout: c.layout, size: s, candidate: c.name,
		median: us(0.5), p10: us(0.1), p90: us(0.9), ghz: ghz}
	r.tflops = s.flops() / r.median / 1e6
	return r
}

func (r *row) fields() []string {
	known := func(v float64, digits int) string {
		if v == 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'f', digits, 64)
	}
	return []string{r.device, r.data, r.types, r.layout, strconv.Itoa(r.m), strconv.Itoa(r.n), strconv.Itoa(r.k), r.candidate,
		known(r.median, 3), known(r.p10, 3), known(r.p90, 3), known(r.tflops, 2), known(r.ghz, 4), known(r.share, 4), strconv.Itoa(r.batch)}
}

func writeRows(w io.Writer, rows []row) error {
	out := csv.NewWriter(w)
	if err := out.Write(head); err != nil {
		return err
	}
	for i := range rows {
		if err := out.Write(rows[i].fields()); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// readFiles reads the results of several files, one after the other.
func readFiles(paths string) ([]row, error) {
	var out []row
	for path := range strings.SplitSeq(paths, ",") {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		rows, err := readRows(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, rows...)
	}
	return out, nil
}

func readRows(r io.Reader) ([]row, error) {
	table, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(table) == 0 || strings.Join(table[0], ",") != strings.Join(head, ",") {
		return nil, fmt.Errorf("expected the head %s", strings.Join(head, ","))
	}
	var out []row
	for i, f := range table[1:] {
		x := row{device: f[0], data: f[1], types: f[2], layout: f[3], candidate: f[7]}
		var errs []error
		for j, to := range []*int{&x.m, &x.n, &x.k, &x.batch} {
			var err error
			*to, err = strconv.Atoi(f[[]int{4, 5, 6, 14}[j]])
			errs = append(errs, err)
		}
		for j, to := range []*float64{&x.median, &x.p10, &x.p90, &x.tflops, &x.ghz, &x.share} {
			if f[8+j] != "" {
				var err error
				*to, err = strconv.ParseFloat(f[8+j], 64)
				errs = append(errs, err)
			}
		}
		if err := errors.Join(errs...); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		out = append(out, x)
	}
	return out, nil
}
