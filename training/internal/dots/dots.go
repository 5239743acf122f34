// Package dots multiplies rows of float32 features with float64 weights, which gives the
// predictions of a linear model. Sums are in float64, and each product is added in one rounding. A
// dot product is the sum of eight partial sums: terms 0, 8, 16, …, terms 1, 9, 17, …, and so on.
// AVX-512, AVX2 with FMA and plain Go have the same order and the same bits.
package dots

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/internal/simd"
)

//go:generate go run -C ../../../internal/tools ./asm/dots -out ../../training/internal/dots/loops_amd64.s -stubs ../../training/internal/dots/loops_amd64.go -pkg dots

const (
	lanes       = 8 // partial sums of a dot product
	tileRows    = 4 // rows processed at a time
	tileOutputs = 2 // outputs processed at a time
)

// Affine writes intercept[k] + Σ_t theta[k·m+t]·z[n·m+t], rounded to T, into dst[n·outputs+k]. It
// does not allocate, and panics if the lengths do not match.
func Affine[T float32 | float64](dst []T, theta, intercept []float64, z []float32, rows, outputs, m int) {
	if rows < 0 || len(z) != rows*m || len(dst) != rows*outputs || len(theta) != outputs*m || len(intercept) != outputs {
		panic(fmt.Sprintf("dots: %d rows, %d outputs, %d terms; given %d values, %d results, %d weights, %d intercepts",
			rows, outputs, m, len(z), len(dst), len(theta), len(intercept)))
	}
	affine(simd.Best(), dst, theta, intercept, z, rows, outputs, m)
}

func affine[T float32 | float64](
	level simd.Level,
	dst []T,
	theta, intercept []float64,
	z []float32,
	rows, outputs, m int,
) {
	var sum [tileRows * tileOutputs * lanes]float64
	whole := m / lanes * lanes
	for n := 0; n < rows; n += tileRows {
		tall := min(tileRows, rows-n)
		for k := 0; k < outputs; k += tileOutputs {
			wide := min(tileOutputs, outputs-k)
			if whole == 0 {
				clear(sum[:])
			} else if tall < tileRows {
				dotsGo(sum[:], theta[k*m:], z[n*m:], tall, wide, m, whole)
			} else {
				tile(level, sum[:], theta[k*m:], z[n*m:], wide, m, whole)
			}
			for i := range tall {
				for j := range wide {
					lane := (*[lanes]float64)(sum[(i*wide+j)*lanes:])
					at, row := (k+j)*m, (n+i)*m
					dst[(n+i)*outputs+k+j] = T(intercept[k+j] + total(lane, theta[at+whole:at+m], z[row+whole:row+m]))
				}
			}
		}
	}
}

// total adds the last terms, fewer than lanes, and adds up the lanes.
func total(lane *[lanes]float64, theta []float64, z []float32) float64 {
	for t, v := range z {
		lane[t&(lanes-1)] = math.FMA(theta[t], float64(v), lane[t&(lanes-1)])
	}
	return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))
}

// dotsGo is the plain Go version of the assembly, for any number of rows and outputs of a tile.
func dotsGo(sum, theta []float64, z []float32, rows, outputs, m, terms int) {
	for i := range rows {
		for k := range outputs {
			lane := (*[lanes]float64)(sum[(i*outputs+k)*lanes:])
			*lane = [lanes]float64{}
			weights, row := theta[k*m:k*m+terms], z[i*m:i*m+terms]
			for t := 0; t < terms; t += lanes {
				w, v := (*[lanes]float64)(weights[t:]), (*[lanes]float32)(row[t:])
				for j := range lane {
					lane[j] = math.FMA(w[j], float64(v[j]), lane[j])
				}
			}
		}
	}
}
