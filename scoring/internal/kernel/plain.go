package kernel

// lanes8 is the part of a panel that the plain loop keeps in registers: eight accumulators hide the
// latency of the additions and fit Go's registers.
type lanes8 = [8]float32

// runPlain is run in plain Go, each product rounded before it is added.
func (c *call) runPlain() {
	for r := range c.rows {
		init, dst := c.init[r*c.initStride:], c.dst[r*c.dstStride:]
		for f := 0; f < Width; f += len(lanes8{}) {
			z := *(*lanes8)(init[f:])
			switch {
			case c.begin != nil:
				projectListed(&z, c.entries[c.begin[r]:c.begin[r+1]], c.weights[f:])
			case len(c.weights) > 0:
				project(&z, c.x[r*c.xStride:][:len(c.weights)/Width], c.weights[f:])
			}
			c.op.apply(&z)
			if c.factor != nil {
				for i := range z {
					z[i] = float32(z[i] * c.factor[f+i])
				}
			}
			*(*lanes8)(dst[f:]) = z
		}
	}
}

// project adds Σ_k x[k]·w[k·Width + f] to z[f], k rising.
func project(z *lanes8, x, w []float32) {
	a0 := z[0]
	a1 := z[1]
	a2 := z[2]
	a3 := z[3]
	a4 := z[4]
	a5 := z[5]
	a6 := z[6]
	a7 := z[7]
	for k, v := range x {
		o := (*lanes8)(w[k*Width:])
		a0 += float32(v * o[0])
		a1 += float32(v * o[1])
		a2 += float32(v * o[2])
		a3 += float32(v * o[3])
		a4 += float32(v * o[4])
		a5 += float32(v * o[5])
		a6 += float32(v * o[6])
		a7 += float32(v * o[7])
	}
	*z = lanes8{a0, a1, a2, a3, a4, a5, a6, a7}
}

// projectListed is project for the numbers of a list; omitted numbers would add zero.
func projectListed(z *lanes8, list []entry, w []float32) {
	a0 := z[0]
	a1 := z[1]
	a2 := z[2]
	a3 := z[3]
	a4 := z[4]
	a5 := z[5]
	a6 := z[6]
	a7 := z[7]
	for _, e := range list {
		v, o := e.value(), (*lanes8)(w[e.weight():])
		a0 += float32(v * o[0])
		a1 += float32(v * o[1])
		a2 += float32(v * o[2])
		a3 += float32(v * o[3])
		a4 += float32(v * o[4])
		a5 += float32(v * o[5])
		a6 += float32(v * o[6])
		a7 += float32(v * o[7])
	}
	*z = lanes8{a0, a1, a2, a3, a4, a5, a6, a7}
}
