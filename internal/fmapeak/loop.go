package fmapeak

import "runtime"

// start are the initial sums of loopGo: distinct and unknown to the compiler.
var start = [sums]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}

// loopGo does the same number of scalar operations. Each product depends on the previous sum,
// because the compiler would hoist a constant product out of the loop. It is rounded before the
// addition, as in every plain Go twin of a kernel here.
func loopGo(rounds int) {
	s0 := start[0]
	s1 := start[1]
	s2 := start[2]
	s3 := start[3]
	s4 := start[4]
	s5 := start[5]
	s6 := start[6]
	s7 := start[7]
	s8 := start[8]
	s9 := start[9]
	s10 := start[10]
	s11 := start[11]
	for range rounds {
		s0 = float32(s0*0.5) + 1
		s1 = float32(s1*0.5) + 1
		s2 = float32(s2*0.5) + 1
		s3 = float32(s3*0.5) + 1
		s4 = float32(s4*0.5) + 1
		s5 = float32(s5*0.5) + 1
		s6 = float32(s6*0.5) + 1
		s7 = float32(s7*0.5) + 1
		s8 = float32(s8*0.5) + 1
		s9 = float32(s9*0.5) + 1
		s10 = float32(s10*0.5) + 1
		s11 = float32(s11*0.5) + 1
	}
	runtime.KeepAlive(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11)
}
