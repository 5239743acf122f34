package gram

// Moments are settled sums, the content of a Gram at some point. They are immutable.
type Moments struct {
	features, outputs int
	coding            coding
	totals            totals
}

// Features returns M.
func (m *Moments) Features() int { return m.features }

// Outputs returns K.
func (m *Moments) Outputs() int { return m.outputs }

// Rows returns the number of rows, each with its weight.
func (m *Moments) Rows() float64 { return m.At(m.ones(), m.ones()) }

func (m *Moments) ones() int { return m.totals.columns - 1 }

// At returns Σ c_i·c_j over the rows for columns i <= j, where c_i = (v_i − Shift(i))·Scale(i) is
// the coded value. Columns are the features, the outputs, and the ones.
func (m *Moments) At(i, j int) float64 { return m.totals.at(i, j) }

// Multiplied returns the part of Σ c_i² that was summed in float32, with each row's value taken
// relative to the shift used to sum it. The rounding error of At(i, i) is proportional to it.
// Without merging, it equals At(i, i).
func (m *Moments) Multiplied(i int) float64 { return max(0, m.At(i, i)-m.totals.moved[i]) }

// Sum returns Σ c_i.
func (m *Moments) Sum(i int) float64 { return m.At(i, m.ones()) }

// Row returns At(i, j) for the columns j of one panel, from PanelColumns·panel on. They are valid
// for j >= i.
func (m *Moments) Row(i, panel int) []float64 {
	block := panel*(panel+1)/2 + i/panelColumns
	return m.totals.block(block)[i%panelColumns*panelColumns:][:panelColumns]
}

// Shift returns what is subtracted from column i.
func (m *Moments) Shift(i int) float64 { return float64(m.coding.shift[i]) }

// Scale returns the power of two that column i is then multiplied by.
func (m *Moments) Scale(i int) float64 { return float64(m.coding.scale[i]) }

// Values returns the sums in internal order, to look for values that are not finite.
func (m *Moments) Values() []float64 { return m.totals.data }

// Plus returns the moments of the rows of m and other together, which must have the same shape. The
// one with more rows decides the coding, because its shifts are near the means of all rows.
func (m *Moments) Plus(other *Moments) *Moments {
	if other.Rows() > m.Rows() {
		m, other = other, m
	}
	if other.Rows() == 0 {
		return m
	}
	sum := *m
	sum.totals = m.totals.clone()
	sum.totals.addRecoded(other.totals, m.coding.from(other.coding), 1)
	return &sum
}
