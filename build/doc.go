// Package build is the CUDA toolchain of gocute: it finds nvcc or NVRTC (or
// installs a pinned one), compiles one .cu file to cubins and PTX, reads ptxas'
// report and keeps what it compiled in a cache addressed by content.
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
// CUDA_HOME and the like are absolute paths, and relative entries of PATH do not count: nothing that lies in the current
// folder is run or loaded.
//
// PTX loads only on drivers at least as new as the nvcc that wrote it: that of
// 13.0 (the pinned release) wants a driver for CUDA 13.0. A newer nvcc is
// accepted with a line in Toolchain.Warnings. nvcc preprocesses with a host
// compiler, so gcc has to be on PATH (or named by NVCC_CCBIN).
//
// # What is installed
//
// pip fetches NVIDIA's wheels from the place that it is set up for (PIP_INDEX_URL, PIP_FIND_LINKS, a proxy, pip.conf). Their
// SHA-256 is pinned here, so a mirror does as well as the index, and other files are refused: with what was expected
// and what came, and nothing is left behind. What pip unpacked is compared with a pinned digest too, before any of it runs.
//
// The installation has a list of its files with their hashes, gocute-files.txt, which is known by the same digest. Each start
// looks at the files' sizes; where the list is damaged, it is written anew if the hashes of the files are right, without a
// download. A compiler step that ends in a way that no source explains (ptxas crashed) has the hashes of all files looked at:
// what is damaged is installed anew and the step tried again, or the error says which file it is, if Options.NoInstall
// forbids that.
//
// # Child processes
//
// nvcc, pip and what they start end with this process, kill -9 included (on Unix, where there is /bin/sh). The
// temporary folders of a process that was killed, gocute-* in TMPDIR and *.tmp-* in the cache folder, are removed by
// the next one: a locked file in each tells whether its owner lives.
//
// # What nvcc reads before a kernel
//
// Printed kernels use few of CUDA's declarations, and the toolkit's headers and the host's take nvcc longer (0.3 s) than
// a small kernel. So it reads a prelude in their place: declarations of the same functions, by which the PTX is the
// same to the byte. What needs more than those, and all source that is not whole and to the byte as gocute printed it (its last
// line has a checksum), is compiled after the headers; PTX.Prelude tells, and Toolchain.FullHeaders turns the prelude off.
//
// # Which NVRTC
//
// NVRTC is the same compiler as a library: FindNVRTC loads it without cgo. It
// needs neither a host compiler nor a process for each step, and is several times
// faster on small kernels. FindNVRTC takes the first usable one of
//
//  1. the file named by GOCUTE_NVRTC (if it is unusable, that is an error),
//  2. lib64, lib and targets/*/lib of $CUDA_HOME and $CUDA_PATH,
//  3. the wheel nvidia-cuda-nvrtc in $VIRTUAL_ENV, $CONDA_PREFIX or python3's
//     own site-packages,
//  4. /usr/local/cuda, and the system's libraries,
//  5. the wheels gocute installed earlier in its cache folder,
//  6. the wheels, installed now (about 95 MB of download and 240 MB of disk).
//
// Usable means release 12.4 or newer, as for nvcc. CUDA's headers are those of
// the same toolkit; kernels that include none need none.
//
// # What is believed
//
// PTX must have its .version, the .target asked for and a kernel, which for source as gocute printed it is Source.Name; a
// cubin must be a whole ELF file for CUDA, of its architecture, with the code of every kernel of its PTX. What is not gives
// an *OutputError and is not cached; such an entry of the cache is a miss.
//
// # Where things are kept
//
// The cache folder is $GOCUTE_CACHE, or gocute below os.UserCacheDir. The
// toolchain lies in cuda-13.0.2 there, NVRTC in nvrtc-13.0.2, compiled objects in
// objects, of which those that were not used for longest go when they are larger than
// GOCUTE_CACHE_LIMIT (2GB). All can be deleted at any time: see Clean.
//
// # What the output depends on
//
// The same Source, flags, headers, nvcc and host compiler give the same bytes,
// whatever the folder, the user or the time: compiling happens in a temporary
// folder under a fixed relative name, and the names nvcc derives from that
// folder are replaced in the PTX before ptxas sees it. NVRTC gets the headers of
// include folders from memory, for the same reason. The two compilers' results
// differ a little (a few registers) and are cached apart.
package build
