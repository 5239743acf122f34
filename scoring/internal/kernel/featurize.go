package kernel

// featurizeRows is how many rows Featurize takes through a panel at a time.
const featurizeRows = 16

// Featurize sets dst[i·Len + m] = factor[m]·φ_m(x_i) for the rows x_i of x. Calls for disjoint rows may run at once.
func Featurize(dst []float32, p *Panels, x []float32, factor []float32) {
	var phi [featurizeRows]tile
	rows := len(x) / p.Dim
	for i := 0; i < rows; i += featurizeRows {
		n := min(featurizeRows, rows-i)
		block := x[i*p.Dim : (i+n)*p.Dim]
		for panel := range p.Count() {
			p.features(phi[:n], panel, block)
			at, lanes := panel*Width, p.lanes(panel)
			scale := factor[at : at+lanes]
			for r := range n {
				store(dst[(i+r)*p.Len+at:], &phi[r], scale)
			}
		}
	}
}

// store writes the scaled features of one row.
func store(dst []float32, phi *tile, scale []float32) {
	dst = dst[:len(scale)]
	for f, s := range scale {
		dst[f] = float32(s * phi[f%Width])
	}
}
