// Package launch is what generated launchers (packages printed by gen/golaunch) have in common: finding the
// compiled image that suits a device, checking arguments before anything is enqueued, and packing them
// without allocating. Programs use the generated packages, not this one.
//
// # Where a kernel's code comes from
//
// In this order: a cubin for the device in the embedded folder bin/; PTX there, which the driver compiles;
// the embedded .cu, compiled now by an nvcc or a libnvrtc that is already on the machine (nothing is ever installed);
// else an error that says which command to run. GOCUTE_FORCE_PTX=1 in the environment rules cubins out.
package launch
