package adaptive

import "math"

// reduce turns a symmetric matrix into one of three diagonals by Householder reflections: the middle one is d, the one below it
// e[1..]. Row j of a [n·n] becomes column j of the product of the reflections, so that loops run along memory.
func reduce(a []float64, n int) (d, e []float64) {
	d, e = make([]float64, n), make([]float64, n)
	copyColumn(d, a, n, n-1, n)
	for i := n - 1; i > 0; i-- {
		d[i] = reflect(a, d, e, n, i)
	}
	multiplyReflections(a, d, n)
	copyColumn(d, a, n, n-1, n)
	for j := range n {
		a[j*n+n-1] = 0
	}
	a[n*n-1] = 1
	e[0] = 0
	return d, e
}

// copyColumn sets dst to the first numbers of column c.
func copyColumn(dst, a []float64, n, c, count int) {
	for j := range count {
		dst[j] = a[j*n+c]
	}
}

// reflect eliminates row i but for the number beside the diagonal; d[:i] is that row. It returns half the squared length of the
// reflection's vector, which it leaves in column i, and sets d to row i-1 of what is left.
func reflect(a, d, e []float64, n, i int) (h float64) {
	scale := 0.0
	for _, v := range d[:i] {
		scale += math.Abs(v)
	}
	if scale == 0 {
		e[i] = d[i-1]
		for j := range i {
			d[j] = a[j*n+i-1]
			a[i*n+j], a[j*n+i] = 0, 0
		}
		return 0
	}
	for k := range i {
		d[k] /= scale
		h += float64(d[k] * d[k])
	}
	f, g := d[i-1], math.Sqrt(h)
	if f > 0 {
		g = -g
	}
	e[i] = scale * g
	h -= float64(f * g)
	d[i-1] = f - g
	clear(e[:i])
	for j := range i { // e = A·v
		f, column := d[j], a[j*n:]
		a[i*n+j] = f
		g := e[j] + float64(column[j]*f)
		for k := j + 1; k < i; k++ {
			g += float64(column[k] * d[k])
			e[k] += float64(column[k] * f)
		}
		e[j] = g
	}
	f = 0
	for j := range i {
		e[j] /= h
		f += float64(e[j] * d[j])
	}
	half := f / (h + h)
	for j := range i {
		e[j] -= float64(half * d[j])
	}
	for j := range i { // A − v·eᵀ − e·vᵀ
		f, g, column := d[j], e[j], a[j*n:]
		for k := j; k < i; k++ {
			column[k] -= float64(f*e[k]) + float64(g*d[k])
		}
		d[j] = column[i-1]
		column[i] = 0
	}
	return h
}

// multiplyReflections makes the product of the reflections whose vectors are in the rows above the diagonal, d their half squared
// lengths.
func multiplyReflections(a, d []float64, n int) {
	for i := range n - 1 {
		a[i*n+n-1], a[i*n+i] = a[i*n+i], 1
		vector := a[(i+1)*n : (i+1)*n+i+1]
		if h := d[i+1]; h != 0 {
			for k, v := range vector {
				d[k] = v / h
			}
			for j := range i + 1 {
				column := a[j*n : j*n+i+1]
				g := dot(vector, column)
				for k := range column {
					column[k] -= float64(g * d[k])
				}
			}
		}
		clear(vector)
	}
}

// maxSweeps bounds the steps for one eigenvalue; two or three are usual.
const maxSweeps = 60

// diagonalize finds the eigenvalues of the matrix with the diagonals d and e[1..], which become d, by QL steps with implicit shifts,
// and applies the rotations to the columns in vectors.
func diagonalize(vectors, d, e []float64, n int) {
	copy(e, e[1:])
	e[n-1] = 0
	shift, size := 0.0, 0.0
	for l := range n {
		size = max(size, math.Abs(d[l])+math.Abs(e[l]))
		small := float64(0x1p-52 * size)
		m := l
		for m < n-1 && math.Abs(e[m]) > small {
			m++
		}
		for sweep := 0; m > l && sweep < maxSweeps; sweep++ {
			shift += takeShift(d, e, l)
			sweepUp(vectors, d, e, n, l, m)
			if math.Abs(e[l]) <= small {
				break
			}
		}
		d[l] += shift
		e[l] = 0
	}
}

// takeShift takes the shift of the next step from d[l:] and returns it.
func takeShift(d, e []float64, l int) float64 {
	g := d[l]
	p := (d[l+1] - g) / float64(2*e[l])
	r := hypot(p, 1)
	if p < 0 {
		r = -r
	}
	d[l] = e[l] / (p + r)
	d[l+1] = float64(e[l] * (p + r))
	h := g - d[l]
	for i := l + 2; i < len(d); i++ {
		d[i] -= h
	}
	return h
}

// sweepUp chases the bulge of a QL step from m down to l.
func sweepUp(vectors, d, e []float64, n, l, m int) {
	next, beside := d[l+1], e[l+1]
	p, c, c2, c3, s, s2 := d[m], 1.0, 1.0, 1.0, 0.0, 0.0
	for i := m - 1; i >= l; i-- {
		c3, c2, s2 = c2, c, s
		g, h := float64(c*e[i]), float64(c*p)
		r := hypot(p, e[i])
		e[i+1] = float64(s * r)
		s, c = e[i]/r, p/r
		p = float64(c*d[i]) - float64(s*g)
		d[i+1] = h + float64(s*(float64(c*g)+float64(s*d[i])))
		rotate(vectors[i*n:(i+1)*n], vectors[(i+1)*n:(i+2)*n], c, s)
	}
	p = -s * s2 * c3 * beside * e[l] / next
	e[l] = float64(s * p)
	d[l] = float64(c * p)
}

// rotate turns the plane of two vectors.
func rotate(a, b []float64, c, s float64) {
	b = b[:len(a)]
	for k, v := range a {
		w := b[k]
		b[k] = float64(s*v) + float64(c*w)
		a[k] = float64(c*v) - float64(s*w)
	}
}

// hypot returns √(a² + b²) without overflow on the way, in operations that round alike everywhere.
func hypot(a, b float64) float64 {
	a, b = math.Abs(a), math.Abs(b)
	if a < b {
		a, b = b, a
	}
	if a == 0 {
		return 0
	}
	ratio := b / a
	return a * math.Sqrt(1+float64(ratio*ratio))
}
