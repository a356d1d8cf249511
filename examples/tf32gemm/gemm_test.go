package tf32gemm

import "testing"

func TestRecords(t *testing.T) {
	if err := GEMM().Err(); err != nil {
		t.Fatal(err)
	}
}
