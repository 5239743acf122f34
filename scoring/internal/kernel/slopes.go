package kernel

import (
	"fmt"

	"github.com/eerf-stream/eerf/internal/simd"
)

// Slopes sets z[i·zStride + m] to the cosine or ramp m of the row x_i, like [Set.Featurize] with
// factors of 1. It writes the slope, the derivative by ω·x + b, to panels of [Width] columns that
// lie stride numbers apart:
//
//	slope[m/Width·stride + i·Width + m%Width] = −sin(ω_m·x_i + b_m), of a ramp 1 where it is above 0 and else 0
//
// Both come from the same argument. The last panel is written to its full width. Calls for disjoint
// rows may run concurrently.
func Slopes(z []float32, zStride int, slope []float32, stride int, p *Panels, x []float32) {
	rows := len(x) / p.Dim
	if p.Map != Cosine && p.Map != Ramp || zStride < p.Len || rows > 0 && len(z) < (rows-1)*zStride+p.Len {
		panic(fmt.Sprintf("kernel: slopes of map %d, %d rows of %d features in %d numbers", p.Map, rows, p.Len, len(z)))
	}
	checkPanels(slope, stride, rows, p.Count())
	var s scratch
	for i := 0; i < rows; i += chunkRows {
		taken := p.Rows(x[i*p.Dim : min(i+chunkRows, rows)*p.Dim])
		taken.List(0, 1)
		b := taken.group(0, p)
		for panel := range p.Count() {
			at := panel * Width
			own := slope[panel*stride+i*Width:][:b.rows*Width]
			c := p.lastChunk(panel, b, &s)
			c.dst = own
			c.dstStride = Width
			c.op = raw
			c.run(p.level)
			if at+Width <= p.Len {
				p.slopes(z[i*zStride+at:], zStride, own, b.rows)
				continue
			}
			wide := s.z[0][:b.rows*Width] // the arguments of earlier chunks are no longer needed
			p.slopes(wide, Width, own, b.rows)
			for r := range b.rows {
				copy(z[(i+r)*zStride+at:(i+r)*zStride+p.Len], wide[r*Width:])
			}
		}
		taken.Release()
	}
}

// slopes sets dst to the features of the arguments in slope, [rows][Width], and replaces the
// arguments by slopes.
func (p *Panels) slopes(dst []float32, dstStride int, slope []float32, rows int) {
	if p.Map == Cosine {
		slopes(p.level, dst, dstStride, slope, rows)
		return
	}
	rampSlopes(p.level, dst, dstStride, slope, rows)
}

// checkPanels panics if panels that lie stride numbers apart have no room for the rows.
func checkPanels(panels []float32, stride, rows, count int) {
	if rows > 0 && (stride < rows*Width || len(panels) < (count-1)*stride+rows*Width) {
		panic(fmt.Sprintf("kernel: %d rows of %d panels, each of %d numbers, in %d", rows, count, stride, len(panels)))
	}
}

// slopesPlain is slopes for cosines.
func slopesPlain(dst []float32, dstStride int, slope []float32, rows int) {
	for r := range rows {
		to := dst[r*dstStride:][:Width]
		for f, v := range slope[r*Width : (r+1)*Width] {
			to[f], slope[r*Width+f] = Cos(v), Slope(v)
		}
	}
}

// rampSlopesPlain is slopes for ramps.
func rampSlopesPlain(dst []float32, dstStride int, slope []float32, rows int) {
	for r := range rows {
		to := dst[r*dstStride:][:Width]
		for f, v := range slope[r*Width : (r+1)*Width] {
			to[f], slope[r*Width+f] = positive(v), 0
			if v > 0 {
				slope[r*Width+f] = 1
			}
		}
	}
}

// PackWeights packs the weights theta of n features, output-major [outputs·n], into panels for
// [Weigh], in float32. It uses the memory of dst if that is large enough.
func PackWeights(dst []float32, theta []float64, n, outputs int) []float32 {
	if n < 1 || len(theta) != n*outputs {
		panic(fmt.Sprintf("kernel: %d weights of %d features and %d outputs", len(theta), n, outputs))
	}
	count := (n + Width - 1) / Width
	if size := count * outputs * Width; cap(dst) < size {
		dst = alignedFloats(size)
	} else {
		dst = dst[:size]
	}
	for panel := range count {
		for k := range outputs {
			own := theta[k*n+panel*Width : k*n+min((panel+1)*Width, n)]
			to := dst[(panel*outputs+k)*Width:][:Width]
			clear(to[len(own):])
			for f, v := range own {
				to[f] = float32(v)
			}
		}
	}
	return dst
}

// Weigh multiplies slopes, in the panels of [Slopes], by Σ_k e_k·θ_k, for e row-major
// [rows·outputs] and the weights θ of [PackWeights]. With the errors e of a model, the result is
// half the derivative of its squared loss by the arguments. Sums are in float32, k rising. Calls
// for disjoint rows may run concurrently.
func Weigh(slope []float32, stride int, e, weights []float32, outputs int) {
	rows, count := len(e)/outputs, len(weights)/(outputs*Width)
	if rows*outputs != len(e) || count*outputs*Width != len(weights) {
		panic(fmt.Sprintf("kernel: %d errors and %d weights of %d outputs", len(e), len(weights), outputs))
	}
	checkPanels(slope, stride, rows, count)
	level := simd.Best()
	step := max(callProducts/(Width*(outputs+callCost)), 1)
	for panel := range count {
		own := weights[panel*outputs*Width:][:outputs*Width]
		for i := 0; i < rows; i += step {
			n := min(step, rows-i)
			weigh(level, slope[panel*stride+i*Width:][:n*Width], e[i*outputs:(i+n)*outputs], own, outputs)
		}
	}
}

// callCost is the cost of reading and writing a slope, in products.
const callCost = 16

// weighPlain is Weigh for one panel, each product rounded before it is added.
func weighPlain(slope, e, weights []float32, outputs int) {
	for r := 0; r*outputs < len(e); r++ {
		var sum [Width]float32
		for k, v := range e[r*outputs : (r+1)*outputs] {
			for f, w := range weights[k*Width:][:Width] {
				sum[f] += float32(v * w)
			}
		}
		row := slope[r*Width:][:Width]
		for f, v := range row {
			row[f] = float32(v * sum[f])
		}
	}
}
