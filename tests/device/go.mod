module github.com/gocute/gocute/tests/device

go 1.26.0

require (
	github.com/gocute/gocute v0.0.0
	github.com/stretchr/testify v1.12.1
)

require github.com/dave/jennifer v1.7.1 // indirect

require (
	example.com/saxpy v0.0.0
	example.com/tf32gemm v0.0.0
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/gofrs/flock v0.13.2 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/gocute/gocute => ../..

replace example.com/saxpy => ../../examples/saxpy

replace example.com/tf32gemm => ../../examples/tf32gemm
