package training

import "fmt"

// rowBlock is the number of rows in a block of Rows.
const rowBlock = 1024

// Rows are rows of M features with their classes. They are kept in memory for the logistic loss,
// whose gradient cannot be computed from the sums of one pass, and take 4·(M+1) bytes each. Rows
// belong to one goroutine.
type Rows struct {
	features int
	classes  int
	rows     int
	blocks   []classRows
	shared   bool // the last block also belongs to other Rows
}

// classRows are some rows: z is row-major, len(class)×M.
type classRows struct {
	z      []float32
	class  []int32
	weight float64 // of each row
}

// NewRows returns an empty Rows for the given number of features and classes 0..classes-1. It
// panics unless features is positive and classes is 2 or more.
func NewRows(features, classes int) *Rows {
	if features <= 0 || classes < 2 {
		panic(fmt.Sprintf("training: rows of %d features in %d classes", features, classes))
	}
	return &Rows{features: features, classes: classes}
}

// Len returns the number of rows.
func (r *Rows) Len() int { return r.rows }

// Bytes returns the memory of the values of the rows.
func (r *Rows) Bytes() int64 { return int64(r.rows) * int64(r.features+1) * 4 }

// Add copies rows: z is len(class)×M, row-major and finite. The result is the same however a
// sequence of rows is cut into calls. It panics if the lengths do not match or a class does not
// exist.
func (r *Rows) Add(z []float32, class []int32) {
	if len(z) != len(class)*r.features {
		panic(fmt.Sprintf("training: %d rows of %d features, given %d values", len(class), r.features, len(z)))
	}
	for _, c := range class {
		if c < 0 || int(c) >= r.classes {
			panic(fmt.Sprintf("training: class %d of %d", c, r.classes))
		}
	}
	for len(class) > 0 {
		b := r.open()
		n := min(len(class), rowBlock-len(b.class))
		b.z = append(b.z, z[:n*r.features]...)
		b.class = append(b.class, class[:n]...)
		r.rows += n
		z, class = z[n*r.features:], class[n:]
	}
}

// open returns the block for the next row. Every block but the first is allocated at full size.
func (r *Rows) open() *classRows {
	last := len(r.blocks) - 1
	switch {
	case last < 0:
		r.blocks = append(r.blocks, classRows{weight: 1})
	case r.shared || len(r.blocks[last].class) == rowBlock:
		r.blocks = append(r.blocks, classRows{
			z: make([]float32, 0, rowBlock*r.features), class: make([]int32, 0, rowBlock), weight: 1,
		})
		r.shared = false
	default:
		return &r.blocks[last]
	}
	return &r.blocks[last+1]
}

// Append adds the rows of other without copying their values; each counts weight > 0 times. No rows
// may be added to either while both are used. It panics if the shapes differ.
func (r *Rows) Append(other *Rows, weight float64) {
	r.checkShape(other)
	for _, b := range other.blocks {
		b.weight *= weight
		r.blocks = append(r.blocks, b)
	}
	r.rows += other.rows
	r.shared = len(r.blocks) > 0
}

// AddAll copies the rows of other. It panics if the shapes differ.
func (r *Rows) AddAll(other *Rows) {
	r.checkShape(other)
	for _, b := range other.blocks {
		r.Add(b.z, b.class)
	}
}

func (r *Rows) checkShape(other *Rows) {
	if r.features != other.features || r.classes != other.classes {
		panic(fmt.Sprintf("training: rows of %d features and %d classes appended to rows of %d and %d",
			other.features, other.classes, r.features, r.classes))
	}
}

// weight is the sum of the weights of the rows.
func (r *Rows) weight() float64 {
	sum := 0.0
	for _, b := range r.blocks {
		sum += float64(float64(len(b.class)) * b.weight)
	}
	return sum
}

// Keep drops the rows for which keep is false and frees the memory of most of them. Other Rows to
// which r was appended become invalid.
func (r *Rows) Keep(keep func(row int) bool) {
	number, kept := 0, 0
	for _, b := range r.blocks {
		for i, class := range b.class {
			if keep(number) {
				to := &r.blocks[kept/rowBlock]
				copy(to.z[kept%rowBlock*r.features:], b.z[i*r.features:(i+1)*r.features])
				to.class[kept%rowBlock] = class
				kept++
			}
			number++
		}
	}
	blocks := (kept + rowBlock - 1) / rowBlock
	clear(r.blocks[blocks:])
	r.blocks, r.rows = r.blocks[:blocks], kept
	if last := kept % rowBlock; last > 0 {
		b := &r.blocks[blocks-1]
		b.z, b.class = b.z[:last*r.features], b.class[:last]
	}
}

// plus returns the rows of r followed by those of other, without copying their values.
func (r *Rows) plus(other *Rows) *Rows {
	both := NewRows(r.features, r.classes)
	both.Append(r, 1)
	both.Append(other, 1)
	return both
}

// fold holds out every row whose number is a multiple of parts; the rows are copied.
func (r *Rows) fold(parts int) (fit, heldOut *Rows) {
	fit, heldOut = NewRows(r.features, r.classes), NewRows(r.features, r.classes)
	number := 0
	for _, b := range r.blocks {
		for i := range b.class {
			to := fit
			if number%parts == 0 {
				to = heldOut
			}
			to.Add(b.z[i*r.features:(i+1)*r.features], b.class[i:i+1])
			number++
		}
	}
	return fit, heldOut
}

// counts returns the weight of the rows of each class.
func (r *Rows) counts() []float64 {
	counts := make([]float64, r.classes)
	for _, b := range r.blocks {
		for _, c := range b.class {
			counts[c] += b.weight
		}
	}
	return counts
}

// MajorityClass returns the class with the most rows, the lower number on a tie.
func (r *Rows) MajorityClass() int32 {
	best := 0
	counts := r.counts()
	for k, n := range counts {
		if n > counts[best] {
			best = k
		}
	}
	return int32(best)
}

// sums returns the second moments of the features. Blocks of equal weight are summed together.
func (r *Rows) sums() *Sums {
	none := make([]float32, rowBlock)
	all := NewSums(r.features, 1)
	for first := 0; first < len(r.blocks); {
		weight, part := r.blocks[first].weight, NewSums(r.features, 1)
		for ; first < len(r.blocks) && r.blocks[first].weight == weight; first++ {
			b := r.blocks[first]
			part.Add(b.z, len(b.class), none[:len(b.class)])
		}
		if all.Rows == 0 && weight == 1 {
			all = part
		} else {
			all.MergeWeighted(part, weight)
		}
	}
	return all
}
