// Package build is the CUDA toolchain of gocute: it finds nvcc (or installs a
// pinned one), compiles one .cu file to cubins and PTX, reads ptxas' report and
// keeps what it compiled in a cache addressed by content.
//
// # Which nvcc
//
// Find takes the first usable one of
//
//  1. the file named by the environment variable GOCUTE_NVCC (if that one is
//     unusable it is an error: you asked for it),
//  2. $CUDA_HOME/bin/nvcc,
//  3. nvcc on PATH,
//  4. /usr/local/cuda/bin/nvcc,
//  5. the wheels gocute installed earlier in its cache folder,
//  6. the wheels, installed now (Linux on amd64 and arm64, needs python3 with
//     pip, about 105 MB of download and 271 MB of disk).
//
// Usable means release 12.4 or newer with sm_80 and sm_90 among its targets.
// PTX loads only on drivers at least as new as the nvcc that wrote it: that of
// 13.0 (the pinned release) wants a driver for CUDA 13.0. A newer nvcc is
// accepted with a line in Toolchain.Warnings. nvcc preprocesses with a host
// compiler, so gcc has to be on PATH (or named by NVCC_CCBIN).
//
// # Where things are kept
//
// The cache folder is $GOCUTE_CACHE, or gocute below os.UserCacheDir. The
// toolchain lies in cuda-13.0.2 there, compiled objects in objects. Both can be
// deleted at any time.
//
// # What the output depends on
//
// The same Source, flags, headers, nvcc and host compiler give the same bytes,
// whatever the folder, the user or the time: compiling happens in a temporary
// folder under a fixed relative name, and the names nvcc derives from that
// folder are replaced in the PTX before ptxas sees it.
package build
