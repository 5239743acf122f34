package adaptive

import (
	"math"
	"sort"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/internal/portable"
)

// poolTag separates the draws of pools from other streams with the same seed.
const poolTag = "eerf/adaptive/01"

// The parts of a pool, in order. What does not divide evenly goes to the first.
const (
	byQuarterRoot = iota // G^¼ u
	bySquareRoot         // G^½ u
	byDiagonal           // (diag G)^½ ∘ u
	dense                // u
	sparse               // two parts: coordinates drawn by √G_jj
	poolParts     = sparse + 2
)

// maxOrder is the most coordinates of a sparse candidate.
const maxOrder = 4

// bandwidthRows is how many rows the bandwidth rule looks at.
const bandwidthRows = 1000

// pool returns the candidates of a round after the first: the last winners, then the parts.
func (l *learner) pool(round int, winners *scoring.Features, g *gradients) *scoring.Features {
	m, count := winners.Len(), l.candidates.Count
	d := &poolDraw{gradients: g, turns: l.turns(g), seed: l.candidates.Seed, round: uint64(round)}
	d.weights()
	pool := &scoring.Features{Map: winners.Map, Dim: winners.Dim, Omega: make([]float32, count*winners.Dim), Phase: make([]float32, count)}
	copy(pool.Omega, winners.Omega)
	copy(pool.Phase, winners.Phase)
	sigma := l.bandwidths(d.turns)
	share, first := (count-m)/poolParts, m
	for part := range poolParts {
		next := first + share
		if part == 0 {
			next = count - (poolParts-1)*share
		}
		own, phase := pool.Omega[first*g.dim:next*g.dim], pool.Phase[first:next]
		parallel.On(l.o.Workers, next-first, 64, func(from, to int) {
			for k := from; k < to; k++ {
				phase[k] = d.draw(own[k*g.dim:(k+1)*g.dim], part, first+k, k)
			}
		})
		if part < sparse {
			d.turns[part](own, own)
			scale(own, g.dim, sigma[part])
		}
		first = next
	}
	return pool
}

// scale divides dense candidates by the bandwidth of their part and by their scales.
func scale(omega []float32, dim int, sigma float64) {
	scales := scoring.Scales()
	for k := range len(omega) / dim {
		width := float64(sigma * scales[k%len(scales)])
		for j, v := range omega[k*dim : (k+1)*dim] {
			omega[k*dim+j] = portable.Narrow(float64(v) / width)
		}
	}
}

// turns are what the dense parts of a pool do to vectors, row-major: dst, which may be x, is set to the turned x.
func (l *learner) turns(g *gradients) [sparse]func(dst, x []float32) {
	spread := g.spread()
	return [sparse]func(dst, x []float32){
		byQuarterRoot: g.turner(quarter, l.o.Workers).turn,
		bySquareRoot:  g.turner(math.Sqrt, l.o.Workers).turn,
		byDiagonal: func(dst, x []float32) {
			for i, v := range x {
				dst[i] = float32(float64(v) * spread[i%g.dim])
			}
		},
		dense: func(dst, x []float32) { copy(dst, x) },
	}
}

// poolDraw draws the candidates of one pool.
type poolDraw struct {
	*gradients
	turns  [sparse]func(dst, x []float32)
	heaped []float64 // running sums of the weights of coordinates, [d]
	seed   uint64
	round  uint64
}

// weights sums up the weights by which coordinates of sparse candidates are drawn: √G_jj over their sum, and a little.
func (d *poolDraw) weights() {
	sum := 0.0
	for _, v := range d.diagonal {
		sum += math.Sqrt(v)
	}
	d.heaped = make([]float64, d.dim)
	total := 0.0
	for j, v := range d.diagonal {
		if sum > 0 {
			total += math.Sqrt(v) / sum
		}
		total += 1e-4
		d.heaped[j] = total
	}
}

// draw fills omega with candidate i of the pool, the k-th of its part, and returns its phase. Dense candidates are
// neither turned nor scaled yet.
func (d *poolDraw) draw(omega []float32, part, i, k int) (phase float32) {
	uniform := scoring.Uniforms(d.seed, d.round<<32|uint64(i), poolTag)
	phase = float32(2 * math.Pi * (math.Floor(uniform()*(1<<24)) * 0x1p-24))
	if part >= sparse {
		d.drawSparse(omega, 1+k/len(scoring.Scales())%maxOrder, scoring.Scales()[k%len(scoring.Scales())], uniform)
		return phase
	}
	for j := range omega {
		omega[j] = float32(portable.NormalQuantile(uniform()))
	}
	return phase
}

// drawSparse draws order coordinates by their weights, without repeats, and a normal number for each.
func (d *poolDraw) drawSparse(omega []float32, order int, scale float64, uniform func() float64) {
	order = min(order, d.dim)
	width := math.Sqrt(float64(order)) * scale
	clear(omega)
	for taken := 0; taken < order; {
		j := d.coordinate(uniform())
		if omega[j] != 0 {
			continue
		}
		omega[j] = float32(portable.NormalQuantile(uniform()) / width)
		taken++
	}
}

// coordinate returns the coordinate at which the running sum passes a share of the whole.
func (d *poolDraw) coordinate(share float64) int {
	at := share * d.heaped[d.dim-1]
	return sort.Search(d.dim-1, func(j int) bool { return d.heaped[j] > at })
}

// bandwidths applies the nearest-neighbour rule to the rows as each part turns them.
func (l *learner) bandwidths(turns [sparse]func(dst, x []float32)) (sigma [sparse]float64) {
	x, n := l.fit.some(bandwidthRows)
	turned, rule := make([]float32, len(x)), scoring.QuickBandwidth{Workers: l.o.Workers}
	for part, turn := range turns[:dense] {
		turn(turned, x)
		sigma[part] = rule.Of(turned, n, l.fit.dim)
	}
	if l.width == 0 {
		l.width = rule.Of(x, n, l.fit.dim)
	}
	sigma[dense] = l.width
	return sigma
}
