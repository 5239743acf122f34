package scoring

import (
	"math"
	"strings"
	"testing"
)

func TestKernelFunctionsAreThoseThatFeaturesApproximate(t *testing.T) {
	for _, k := range exactKernels() {
		c := k.c
		c.Count = 1
		got, err := c.KernelFunction()
		if err != nil {
			t.Errorf("%s: %v", k.name, err)
			continue
		}
		if c.Map.KernelFactor() != k.factor {
			t.Errorf("%s: factor %v, want %v", k.name, c.Map.KernelFactor(), k.factor)
		}
		x := normalRows(2, 8, c.Dim)
		matrix := kernelMatrix(got, x, 8, c.Dim)
		for i := range 8 {
			for j := range 8 {
				want := k.of(x[i*c.Dim:(i+1)*c.Dim], x[j*c.Dim:(j+1)*c.Dim])
				near(t, k.name, matrix[i*8+j], want, 1e-7*max(1, math.Abs(want)))
			}
		}
	}
}

// TestArcCosineKernelsScaleWithTheBandwidth, which exactKernels leaves at 1.
func TestArcCosineKernelsScaleWithTheBandwidth(t *testing.T) {
	for _, m := range []Map{MapArcCosine0, MapArcCosine1, MapArcCosine2} {
		c := Candidates{Map: m, Sigma: 1.7, Dim: 3, Count: 200000}
		x := []float32{0.5, -1, 0.3, 0.2, 0.1, 0.9}
		k, err := c.KernelFunction()
		if err != nil {
			t.Fatal(err)
		}
		phi := transform(c.DrawAll(), x, 2)
		want := k(x[:3], x[3:])
		near(t, m.String(), 2*dot(phi[:c.Count], phi[c.Count:])/float64(c.Count), want, 0.03*want)
		if v := k(x[:3], []float32{0, 0, 0}); m == MapArcCosine0 && v != 0.5 || m != MapArcCosine0 && v != 0 {
			t.Errorf("%v: kernel with a zero row is %v", m, v)
		}
	}
}

func TestKernelOfAMixIsThatOfItsFeatures(t *testing.T) {
	c := Candidates{Sigma: 1, Mix: []float64{0.5, 4}, Dim: 3, Count: 200000}
	x := []float32{0.5, -1, 0.3, 0.2, 0.1, 0.9}
	k, err := c.KernelFunction()
	if err != nil {
		t.Fatal(err)
	}
	phi := transform(c.DrawAll(), x, 2)
	near(t, "mix", 2*dot(phi[:c.Count], phi[c.Count:])/float64(c.Count), k(x[:3], x[3:]), 0.012) // about five standard errors
	c.Distribution, c.Nu = Matern, 0.7
	if _, err := c.KernelFunction(); err == nil {
		t.Error("a kernel without a form is not refused in a mix")
	}
}

func TestKernelsWithoutAFormAreRefused(t *testing.T) {
	_, err := Candidates{Distribution: Matern, Nu: 0.7, Sigma: 1, Dim: 1, Count: 1}.KernelFunction()
	if err == nil || !strings.Contains(err.Error(), "order 0.7") {
		t.Errorf("error %v", err)
	}
	if _, err := (Candidates{}).KernelFunction(); err == nil {
		t.Error("a kernel of nothing")
	}
}
