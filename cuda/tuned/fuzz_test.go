package tuned

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/cuda"
)

const smallTable = `{"format": 1, "family": "f", "devices": [{"name": "GPU", "arch": "sm_90", "sms": 132,
"candidates": [{"config": "a", "kernel": "k", "blocksPerSM": 2, "tile": {"M": 128}}],
"shapes": [{"dims": {"M": 512}, "results": [{"config": "a", "microseconds": 5, "rounds": 3}]}]}]}`

// TestDamagedTables: what Choose could not go by is refused when it is read.
func TestDamagedTables(t *testing.T) {
	_, err := Parse([]byte(smallTable))
	require.NoError(t, err)
	head := `{"format": 1, "family": "f", "devices": [`
	for text, want := range map[string]string{
		smallTable + "{}":                       "got more after it",
		head + `null]}`:                         "expected entries, but one is null",
		head + `{"name": "A"}, {"name": "A"}]}`: `"A" twice`,
		head + `{"name": "A", "sms": -1}]}`:     "0 or more multiprocessors, but got -1",
		head + `{"name": "A", "candidates": [{"config": "c"}, {"config": "c"}]}]}`:                                             `"c" twice`,
		head + `{"name": "A", "candidates": [{"blocksPerSM": -9223372036854775808}]}]}`:                                        "-9223372036854775808 blocks",
		head + `{"name": "A", "candidates": [{"tile": {"M": 0}}]}]}`:                                                           "a tile of 1 to",
		head + `{"name": "A", "shapes": [{"dims": {"M": -3}}]}]}`:                                                              "but got M = -3",
		head + `{"name": "A", "shapes": [{"dims": {"M": 3}}, {"dims": {"M": 3}}]}]}`:                                           "shapes of different dims",
		head + `{"name": "A", "shapes": [{"dims": {"M": 3}, "results": [{"microseconds": 1e300}]}]}]}`:                         "but got 1e+300",
		head + `{"name": "A", "shapes": [{"dims": {"M": 3}, "results": [{"config": "c"}, {"config": "c"}]}]}]}`:                "one result for a config",
		head + `{"name": "A", "shapes": [{"dims": {"M": 3}, "results": [{"samples": [-1e300]}]}]}]}`:                           "samples of at most",
		head + `{"name": "A", "shapes": [{"dims": {"M": 3}, "results": [{"microseconds": 2, "rounds": -2, "config": ""}]}]}]}`: "0 or more rounds",
	} {
		_, err := Parse([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

// TestNothing: nil tables and parts are refused, or have no parts.
func TestNothing(t *testing.T) {
	var table *Table
	_, err := table.Choose(cuda.Info{}, nil)
	require.ErrorContains(t, err, "got nil")
	_, err = table.Bytes()
	require.ErrorContains(t, err, "got nil")
	require.ErrorContains(t, table.Save("x"), "got nil")
	require.Nil(t, table.Only("k"))
	require.Nil(t, table.Winners())
	table.Merge(New("f"))
	New("f").Merge(nil)
	r := table.On(cuda.Info{}).Shape(nil).Result("c")
	r.Add(1, 1)
	require.True(t, r.Done(1))
	require.False(t, r.Usable())
	var d *Device
	d.Put(nil)
	require.Nil(t, d.Candidate("c"))
	bad := &Table{Format: tableFormat, Devices: []*Device{nil}}
	_, err = bad.Rank(cuda.Info{}, nil)
	require.ErrorContains(t, err, "expected entries, but one is null")
}

// FuzzParse: a table is read or refused, and one that was read answers every question with a candidate or an error, and
// is written and read again as it is.
func FuzzParse(f *testing.F) {
	f.Add([]byte(smallTable), int64(512), 132)
	f.Add([]byte(smallTable), int64(math.MaxInt64), math.MaxInt)
	f.Add([]byte(smallTable), int64(-1), -1)
	f.Add([]byte(`{"format": 1, "devices": [null]}`), int64(1), 1)
	f.Fuzz(func(t *testing.T, data []byte, m int64, sms int) {
		table, err := Parse(data)
		if err != nil {
			return
		}
		infos := []cuda.Info{{Name: "other", Major: 9, SMs: sms}}
		for _, d := range table.Devices {
			infos = append(infos, cuda.Info{Name: d.Name, SMs: sms})
		}
		for _, info := range infos {
			all, err := table.Rank(info, map[string]int64{"M": m, "N": m, "K": 1})
			if err != nil {
				continue
			}
			require.NotEmpty(t, all)
			for _, c := range all {
				require.True(t, c.Microseconds > 0 && !math.IsInf(c.Microseconds, 0), "%v", c)
			}
		}
		_ = table.Winners()
		_ = table.Only("k")
		text, err := table.Bytes()
		require.NoError(t, err)
		again, err := Parse(text)
		require.NoError(t, err)
		same, err := again.Bytes()
		require.NoError(t, err)
		require.Equal(t, string(text), string(same))
	})
}
