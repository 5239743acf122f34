// Package kernel holds the inner loops of training: products of feature columns for the Gram matrix
// in float32, and products of matrices in float64 for solving with it.
//
// Every loop exists in AVX-512, in AVX2 with FMA, and in plain Go. The assembly loops round each
// multiply-add once and take the terms of an element in one order, so AVX-512 and AVX2 give the
// same bits. Plain Go also rounds the product: its bits differ, but are equally accurate, and the
// same on every processor.
//
// Assembly cannot be preempted, so callers bound the memory of a call to keep its time below 0.2
// ms.
package kernel

//go:generate go run -C ../../../internal/tools ./asm/gram -out ../../training/internal/kernel/loops_amd64.s -stubs ../../training/internal/kernel/loops_amd64.go -pkg kernel
