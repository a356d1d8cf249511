module example.com/tf32gemm

go 1.26.0

require github.com/gocute/gocute v0.0.0

require github.com/x448/float16 v0.8.4 // indirect

replace github.com/gocute/gocute => ../..
