package adaptive

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/internal/portable"
)

// poolTag separates the draws of pools from other streams with the same seed.
const poolTag = "eerf/adaptive/02"

// The parts of the cosines and ramps of a pool after the first round; candidates take turns.
// Matrices multiply the dense parts.
const (
	byQuarterRoot = iota // G^¼ u
	bySquareRoot         // G^½ u
	byDiagonal           // (diag G)^½ ∘ u
	dense                // u
	sparse               // two parts: few coordinates
	directions    = sparse + 2
)

// maxOrder is the greatest number of coordinates of a sparse candidate, firstOrders the number of
// orders in the first round (dense, 1, 2 and 3).
const maxOrder, firstOrders = 4, 4

// bandwidthRows is the number of rows in the bandwidth rule.
const bandwidthRows = 1000

// pool is the candidates of a round with their origins: winners of earlier rounds, and new ones.
type pool struct {
	features *scoring.Features
	origins  []origin
	bins     []int32
}

// poolOf identifies a round and the inputs of its pool.
type poolOf struct {
	track     Track
	round     int
	winners   []*point
	gradients *gradients // nil in the first round
}

// trackNumbers are the numbers of the tracks in the streams of draws.
var trackNumbers = map[Track]uint64{Mixed: 0, Cosines: 1, Both: 2}

// draw returns the candidates of a round: the winners, and new candidates, which are cosines or
// in equal parts cosines, ramps, hinges and boxes. The remainder of the division are cosines. The
// first round has bins in addition.
func (l *learner) draw(of poolOf) *pool {
	l.pools++
	d := &poolDraw{poolOf: of, l: l, seed: l.candidates.Seed, sigma: [sparse]float64{dense: l.candidates.Sigma}}
	carried := carry(l.candidates.Map, l.candidates.Dim, of.winners)
	room := max(l.pool-carried.features.Len(), 0)
	share := 0
	if of.track != Cosines {
		share = room / len(scoring.Kinds())
		d.columns = l.thresholds()
	}
	d.weights()
	if of.gradients != nil {
		d.turns = l.turns(of.gradients)
		d.sigma = l.bandwidths(d.turns)
	}
	fresh, next := &scoring.Features{Map: l.candidates.Map, Dim: l.candidates.Dim, Ramps: share}, room-3*share
	fresh.Omega, fresh.Phase = d.omegas(next, share)
	fresh.Products = append(fresh.Products, d.products(false, next+share, share, carried.features)...)
	fresh.Products = append(fresh.Products, d.products(true, next+2*share, share, carried.features)...)
	var singles []int32
	if of.gradients == nil && of.track != Cosines {
		singles = addBins(fresh, d.columns, l.pool)
	}
	return l.join(carried, fresh, singles)
}

// addBins adds bins to the hinges and boxes of f and returns their numbers.
func addBins(f *scoring.Features, columns []column, count int) (numbers []int32) {
	hinges, boxes := bins(columns, count)
	n := f.Kinds()
	f.Products = slices.Concat(f.Products[:n.Hinge], hinges, f.Products[n.Hinge:], boxes)
	drawn := n.Cosine + n.Ramp + n.Hinge
	for i := range hinges {
		numbers = append(numbers, int32(drawn+i))
	}
	for i := range boxes {
		numbers = append(numbers, int32(drawn+len(hinges)+n.Box+i))
	}
	return numbers
}

// carry concatenates the features of points.
func carry(m scoring.Map, dim int, winners []*point) *pool {
	all := &pool{features: &scoring.Features{Map: m, Dim: dim, Phase: []float32{}}}
	for _, w := range winners {
		all.features, all.origins = merge(all.features, w.features, all.origins, w.origins)
	}
	return all
}

// merge joins the features of two sets and their origins, those of a before those of b within each
// kind.
func merge[T any](a, b *scoring.Features, ofA, ofB []T) (*scoring.Features, []T) {
	m, origins := &scoring.Features{Map: a.Map, Dim: a.Dim, Phase: []float32{}}, []T{}
	placeA, placeB := 0, 0
	for _, kind := range scoring.Kinds() {
		for _, of := range []struct {
			f       *scoring.Features
			place   *int
			origins []T
		}{{a, &placeA, ofA}, {b, &placeB, ofB}} {
			first := *of.place
			for *of.place < of.f.Len() && of.f.Kind(*of.place) == kind {
				*of.place++
			}
			next, p := *of.place, of.f.Projections()
			origins = append(origins, of.origins[first:next]...)
			if first >= p {
				m.Products = append(m.Products, of.f.Products[first-p:next-p]...)
				continue
			}
			m.Omega, m.Phase = append(m.Omega, of.f.Omega[first*m.Dim:next*m.Dim]...), append(m.Phase, of.f.Phase[first:next]...)
			if kind == scoring.KindRamp {
				m.Ramps += next - first
			}
		}
	}
	return m, origins
}

// join makes a pool of winners and new candidates, whose numbers are their places in fresh. Bins
// occur only in a pool without winners.
func (l *learner) join(carried *pool, fresh *scoring.Features, bins []int32) *pool {
	numbers := make([]origin, fresh.Len())
	for i := range numbers {
		numbers[i] = origin{l.pools, int32(i)}
	}
	p := &pool{bins: bins}
	p.features, p.origins = merge(carried.features, fresh, carried.origins, numbers)
	return p
}

// poolDraw draws the candidates of one pool.
type poolDraw struct {
	poolOf
	l       *learner
	turns   [sparse]func(dst, x []float32)
	sigma   [sparse]float64 // bandwidths of the dense parts
	columns []column        // distinct values, for pools with thresholds
	// Running sums of the weights of coordinates: for ω, [d], and for thresholds, [columns].
	heaped, heapedColumns []float64
	usable                int // number of coordinates that can have thresholds
	seed                  uint64
}

// stream returns the uniforms of candidate i of the member.
func (d *poolDraw) stream(i int) func() float64 {
	number := uint64(d.l.member)<<58 | trackNumbers[d.track]<<56 | uint64(d.round)<<32 | uint64(i)
	return scoring.Uniforms(d.seed, number, poolTag)
}

// weights sums up the weights with which coordinates are drawn. In the first round, the coordinates
// of one event column share the weight of one. Later a weight is half √G_jj and half √c_j, each
// divided by its sum, plus a little; if one sum is 0, the other counts alone.
func (d *poolDraw) weights() {
	dim := d.l.candidates.Dim
	weight := make([]float64, dim)
	if d.gradients == nil {
		width := map[int32]int{}
		for _, c := range d.l.o.Columns {
			width[c]++
		}
		for j := range weight {
			weight[j] = 1
			if d.l.o.Columns != nil {
				weight[j] /= float64(width[d.l.o.Columns[j]])
			}
		}
	} else {
		var parts [][]float64
		for _, part := range [][]float64{d.gradients.diagonal, d.gradients.products} {
			if roots := rootShares(part); roots != nil {
				parts = append(parts, roots)
			}
		}
		for j := range weight {
			weight[j] = 1e-3 / float64(dim)
			for _, part := range parts {
				weight[j] += part[j] / float64(len(parts))
			}
		}
	}
	total := 0.0
	for _, w := range weight {
		total += w
		d.heaped = append(d.heaped, total)
	}
	total = 0
	for j, c := range d.columns {
		if c.midpoints() > 0 {
			total += weight[j]
			d.usable++
		}
		d.heapedColumns = append(d.heapedColumns, total)
	}
}

// rootShares returns the square roots divided by their sum, nil if that is 0 or infinite.
func rootShares(v []float64) []float64 {
	roots, sum := make([]float64, len(v)), 0.0
	for j, x := range v {
		roots[j] = math.Sqrt(x)
		sum += roots[j]
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil
	}
	for j := range roots {
		roots[j] /= sum
	}
	return roots
}

// coordinate returns the coordinate at which the running sum exceeds the given share of the total.
func coordinate(heaped []float64, share float64) int {
	at := share * heaped[len(heaped)-1]
	j, _ := slices.BinarySearchFunc(heaped[:len(heaped)-1], at, func(sum, at float64) int {
		if sum > at {
			return 1
		}
		return -1
	})
	return j
}

// omegas draws the given numbers of cosines and ramps. The phase of a cosine is the first uniform
// of its candidate. The first uniform of a ramp selects the row at which it begins to rise.
func (d *poolDraw) omegas(cosines, ramps int) (omega, phase []float32) {
	dim := d.l.candidates.Dim
	omega, phase = make([]float32, (cosines+ramps)*dim), make([]float32, cosines+ramps)
	for _, part := range [][2]int{{0, cosines}, {cosines, cosines + ramps}} {
		first, next := part[0], part[1]
		own := omega[first*dim : next*dim]
		parallel.On(d.l.o.Workers, next-first, 64, func(from, to int) {
			for i := from; i < to; i++ {
				u := d.omega(own[i*dim:(i+1)*dim], i, d.stream(first+i))
				phase[first+i] = float32(2 * math.Pi * (math.Floor(u*(1<<24)) * 0x1p-24))
			}
		})
		if d.gradients != nil {
			d.turn(own)
		}
	}
	parallel.On(d.l.o.Workers, ramps, 64, func(from, to int) {
		for i := cosines + from; i < cosines+to; i++ {
			row := int(d.stream(i)() * float64(d.l.fit.n))
			phase[i] = begin(omega[i*dim:(i+1)*dim], d.l.fit.x[row*dim:(row+1)*dim])
		}
	})
	return omega, phase
}

// begin returns −ωᵀx.
func begin(omega, x []float32) float32 {
	sum := 0.0
	for j, w := range omega {
		sum += float64(w) * float64(x[j]) // exact products
	}
	return portable.Narrow(-sum)
}

// omega fills omega with candidate i of its kind and returns the first uniform of its stream. After
// the first round, dense candidates are turned and scaled later.
func (d *poolDraw) omega(omega []float32, i int, uniform func() float64) (first float64) {
	first = uniform()
	scales := scoring.Scales()
	if d.gradients == nil {
		scale := scales[i/firstOrders%len(scales)]
		if order := i % firstOrders; order > 0 {
			d.sparse(omega, order, scale, uniform)
			return first
		}
		width := float64(d.sigma[dense] * scale)
		for j := range omega {
			omega[j] = portable.Narrow(portable.NormalQuantile(uniform()) / width)
		}
		return first
	}
	if part, k := i%directions, i/directions; part >= sparse {
		d.sparse(omega, 1+k%maxOrder, scales[k/maxOrder%len(scales)], uniform)
		return first
	}
	for j := range omega {
		omega[j] = float32(portable.NormalQuantile(uniform()))
	}
	return first
}

// sparse draws order coordinates by their weights, without repeats, and a normal number for each.
func (d *poolDraw) sparse(omega []float32, order int, scale float64, uniform func() float64) {
	order = min(order, len(omega))
	width := math.Sqrt(float64(order)) * scale
	clear(omega)
	for taken := 0; taken < order; {
		j := coordinate(d.heaped, uniform())
		if omega[j] != 0 {
			continue
		}
		omega[j] = float32(portable.NormalQuantile(uniform()) / width)
		taken++
	}
}

// turn multiplies the dense candidates of a kind by the matrices of their parts, and divides them
// by the bandwidth of the part and by their scales.
func (d *poolDraw) turn(omega []float32) {
	dim, scales := d.l.candidates.Dim, scoring.Scales()
	for part := range sparse {
		var own []float32
		for i := part; i*dim < len(omega); i += directions {
			own = append(own, omega[i*dim:(i+1)*dim]...)
		}
		d.turns[part](own, own)
		for k := range len(own) / dim {
			width := float64(d.sigma[part] * scales[k%len(scales)])
			to := omega[(part+k*directions)*dim:][:dim]
			for j, v := range own[k*dim : (k+1)*dim] {
				to[j] = portable.Narrow(float64(v) / width)
			}
		}
	}
}

// products draws n hinges or boxes; the first is the candidate with the number first. After the
// first round, half of them extend winners.
func (d *poolDraw) products(box bool, first, n int, winners *scoring.Features) []scoring.Product {
	if d.usable == 0 {
		return nil
	}
	var parents []scoring.Product
	for _, p := range winners.Products {
		if p.Box == box && int(p.Order) < min(scoring.MaxOrder, d.usable) {
			parents = append(parents, p)
		}
	}
	drawn := make([]scoring.Product, n)
	parallel.On(d.l.o.Workers, n, 64, func(from, to int) {
		for i := from; i < to; i++ {
			drawn[i] = d.product(box, parents, d.stream(first+i))
		}
	})
	return drawn
}

// product draws a hinge or a box in this order: the number of factors, whether and which winner it
// extends, coordinates, signs, and thresholds, which with probability ½ are all next to the values
// of one row.
func (d *poolDraw) product(box bool, parents []scoring.Product, uniform func() float64) scoring.Product {
	order, u := 1, uniform()
	if u > 0.5 {
		order = 2
	}
	if u > 0.8 {
		order = 3
	}
	extends, parent := uniform() < 0.5, uniform()
	p, known := scoring.Product{Box: box}, 0
	order = min(order, d.usable)
	if extends && len(parents) > 0 {
		p = parents[int(parent*float64(len(parents)))]
		known, order = int(p.Order), int(p.Order)+1
	}
	for a := known; a < order; {
		j := uint16(coordinate(d.heapedColumns, uniform()))
		if !slices.Contains(p.Coordinate[:a], j) {
			p.Coordinate[a] = j
			a++
		}
	}
	p.Order = uint8(order)
	for a := known; a < order; a++ {
		p.Sign[a] = 1
		if uniform() < 0.5 {
			p.Sign[a] = -1
		}
	}
	byRow, row := uniform() < 0.5, int(uniform()*float64(d.l.fit.n))
	for a := known; a < order; a++ {
		j, u := int(p.Coordinate[a]), uniform()
		if c := d.columns[j]; byRow {
			p.Threshold[a] = c.nearest(d.l.fit.x[row*d.l.fit.dim+j], u < 0.5)
		} else {
			p.Threshold[a] = c.midpoint(int(u * float64(c.midpoints())))
		}
	}
	return p
}

// turns returns the matrix of each dense part of a pool as a function on row-major vectors: it sets
// dst, which may be x, to the products with x.
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

// bandwidths applies the nearest-neighbour rule to the rows as multiplied by each part.
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
