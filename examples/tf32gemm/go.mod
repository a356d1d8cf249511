module example.com/tf32gemm

go 1.26.0

require github.com/gocute/gocute v0.0.0

replace github.com/gocute/gocute => ../..
