package build

import (
	"fmt"
	"runtime"
	"strings"
)

const (
	pinnedRelease = "13.0.2"
	installName   = "cuda-" + pinnedRelease
	// nvrtcInstallName has a folder of its own: either compiler works without the other.
	nvrtcInstallName = "nvrtc-" + pinnedRelease
	// root is where the wheels put the toolkit below pip's target folder.
	wheelRoot = "nvidia/cu13"
)

// byArch has a value for each architecture that wheels are pinned for, by its GOARCH.
type byArch struct{ amd64, arm64 string }

// get is empty on a machine that nothing is pinned for.
func (b byArch) get() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	return map[string]string{"amd64": b.amd64, "arm64": b.arm64}[runtime.GOARCH]
}

// wheel is a Python package of one version with the SHA-256 of its file for each architecture.
type wheel struct {
	pin  string // as pip names it
	hash byArch
}

// The hashes below are those of the package index. For the next release, change the versions here and fetch the wheels:
//
//	for arch in x86_64 aarch64; do pip download --no-deps --only-binary :all: -d wheels \
//	    --platform manylinux_2_17_$arch --platform manylinux_2_12_$arch nvidia-cuda-nvcc==… nvidia-nvvm==… …; done
//	GOCUTE_WHEELS=$PWD/wheels go test ./build -run TestPins
//
// The test computes the wheels' hashes and the trees' digests and shows what differs from this file. Compare the wheels'
// hashes with those that the package index lists for each file, too.
var (
	wheelNVCC = wheel{"nvidia-cuda-nvcc==13.0.88", byArch{
		"56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03",
		"c7ff28f86a24effdc6c034fa15230c549a273e4771b10a7fec14996f8cf3307f"}}
	wheelNVVM = wheel{"nvidia-nvvm==13.0.88", byArch{
		"c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0",
		"c4376a291d72d22a315d9d2f69bdae8f8cd83a627f75bad395cee49a0fe65dc1"}}
	wheelCRT = wheel{"nvidia-cuda-crt==13.0.88", byArch{
		"2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4",
		"ee2ea2a97073e02ee62bb27841f437332be2c248e3eac013df07997ada39c003"}}
	wheelRuntime = wheel{"nvidia-cuda-runtime==13.0.96", byArch{
		"7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
		"ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55"}}
	wheelCCCL = wheel{"nvidia-cuda-cccl==13.0.85", byArch{
		"e0da7ad981f3a8aff08241b5bfc1af868742a63e2762f53a5171c492ef242649",
		"6f0203e29fed809ee2b7fe9b1344df66ecab990c37d6a2e0e189b26d6c97ed7c"}}
	wheelNVRTC = wheel{"nvidia-cuda-nvrtc==13.0.88", byArch{
		"ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575",
		"d27f20a0ca67a4bb34268a5e951033496c5b74870b868bacd046b1b8e0c3267b"}}
)

// requirements is the file by which pip accepts these wheels and no others.
func (p pack) requirements() string {
	var b strings.Builder
	for _, w := range p.wheels {
		fmt.Fprintf(&b, "%s --hash=sha256:%s\n", w.pin, w.hash.get())
	}
	return b.String()
}

// pack is a set of wheels that make one compiler.
type pack struct {
	compiler string  // NameNVCC or NameNVRTC
	folder   string  // its name in the cache folder
	wheels   []wheel // pinned
	tree     byArch  // SHA-256 of the list of the files that the wheels unpack to; see listFiles
	main     string  // the compiler's own file below wheelRoot
	size     string
	host     bool // it needs a host compiler
	prove    prover
}

// nvccPack is CUDA 13.0 update 2: the driver program with ptxas, the optimiser, the compiler's own headers,
// cuda_runtime.h with cuda_fp16.h and cuda_bf16.h, and the C++ headers those include.
func nvccPack() pack {
	return pack{
		compiler: NameNVCC, folder: installName, main: "bin/nvcc", host: true,
		size:   "about 105 MB to download, 271 MB on disk",
		wheels: []wheel{wheelNVCC, wheelNVVM, wheelCRT, wheelRuntime, wheelCCCL},
		tree: byArch{
			"809565c2f804c4f8142ee182feae72d138c164447b5198c3f0e902107953637c",
			"cdd224920bd86a31a06f93fc06f1a8daf89ea54afd950e8d142ac85dc1daca6e"},
		prove: proveNVCC,
	}
}

// nvrtcPack is the library of the same release, with the headers that kernels include.
func nvrtcPack() pack {
	return pack{
		compiler: NameNVRTC, folder: nvrtcInstallName, main: "lib/libnvrtc.so.13",
		size:   "about 95 MB to download, 240 MB on disk",
		wheels: []wheel{wheelNVRTC, wheelCRT, wheelRuntime, wheelCCCL},
		tree: byArch{
			"9235bc39bbcd973f11d440db62f79d61a75bd713b951c514f2e6e452aa8750e9",
			"94bc87667cef5dfd4ebddbad46b1bed4efa5bafbbce88c461a7ed874660aabb2"},
		prove: proveNVRTC,
	}
}
