package training

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
)

// EvaluationSample keeps a bounded number of held-out rows, the rows with the smallest hashes, to
// measure errors that moments cannot give (misclassification) after one pass. The rows kept depend
// only on the set of rows offered, not on order, partition or repetition. Because the hash is
// uniform, they are a uniform sample of the rows.
type EvaluationSample struct {
	features, outputs, maxRows int

	heap keyHeap // greatest key first
	kept map[sampleKey]struct{}
	z    []float32 // slot×M
	y    []float32 // slot×K
}

// sampleKey orders rows by hash, then by name, so that even equal hashes have one order.
type sampleKey struct {
	hash uint64
	id   RowID
}

func (a sampleKey) compare(b sampleKey) int {
	return cmp.Or(
		cmp.Compare(a.hash, b.hash),
		cmp.Compare(a.id.Partition, b.id.Partition),
		cmp.Compare(a.id.Offset, b.id.Offset),
		cmp.Compare(a.id.Row, b.id.Row),
	)
}

// sampleRow is a key and the place of its values.
type sampleRow struct {
	key  sampleKey
	slot int
}

// keyHeap implements heap.Interface with the greatest key on top.
type keyHeap []sampleRow

func (h keyHeap) Len() int           { return len(h) }
func (h keyHeap) Less(i, j int) bool { return h[i].key.compare(h[j].key) > 0 }
func (h keyHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *keyHeap) Push(x any)        { *h = append(*h, x.(sampleRow)) }
func (h *keyHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// NewEvaluationSample returns an empty sample of rows with the given numbers of features and
// outputs. It grows to maxRows·(features+outputs)·4 bytes; with maxRows = 0 it keeps no rows. It
// panics unless features and outputs are positive.
func NewEvaluationSample(features, outputs, maxRows int) *EvaluationSample {
	if features <= 0 || outputs <= 0 || maxRows < 0 {
		panic(fmt.Sprintf("training: sample of %d rows of %d features and %d outputs", maxRows, features, outputs))
	}
	return &EvaluationSample{features: features, outputs: outputs, maxRows: maxRows, kept: make(map[sampleKey]struct{})}
}

// Len returns the number of rows kept.
func (e *EvaluationSample) Len() int { return len(e.heap) }

// Add offers one row. hash is id.Hash(seed) with the seed of HeldOut, z its M features and y its K
// outputs, which are copied if the row is kept. A row already kept is ignored. It panics if the
// lengths do not match.
func (e *EvaluationSample) Add(id RowID, hash uint64, z, y []float32) {
	if len(z) != e.features || len(y) != e.outputs {
		panic(fmt.Sprintf("training: row of %d features and %d outputs offered to a sample of %d and %d",
			len(z), len(y), e.features, e.outputs))
	}
	e.add(sampleKey{hash: hash, id: id}, z, y)
}

func (e *EvaluationSample) add(key sampleKey, z, y []float32) {
	full := len(e.heap) == e.maxRows
	if full && (e.maxRows == 0 || key.compare(e.heap[0].key) >= 0) {
		return
	}
	if _, ok := e.kept[key]; ok {
		return
	}
	e.kept[key] = struct{}{}
	if !full {
		heap.Push(&e.heap, sampleRow{key: key, slot: len(e.heap)})
		e.z = append(e.z, z...)
		e.y = append(e.y, y...)
		return
	}
	slot := e.heap[0].slot
	delete(e.kept, e.heap[0].key)
	e.heap[0] = sampleRow{key: key, slot: slot}
	heap.Fix(&e.heap, 0)
	copy(e.z[slot*e.features:], z)
	copy(e.y[slot*e.outputs:], y)
}

// Merge offers every row of other, which stays unchanged. It panics if the shapes or bounds differ,
// because only samples with the same bound have a defined union.
func (e *EvaluationSample) Merge(other *EvaluationSample) {
	if e.features != other.features || e.outputs != other.outputs || e.maxRows != other.maxRows {
		panic(fmt.Sprintf("training: merge of a sample of %d rows of %d features and %d outputs into %d of %d and %d",
			other.maxRows, other.features, other.outputs, e.maxRows, e.features, e.outputs))
	}
	for _, r := range other.heap {
		e.add(r.key, other.slotZ(r.slot), other.slotY(r.slot))
	}
}

// Rows returns the rows kept, in ascending order of hash: z is rows×M, y rows×K, both row-major
// copies.
func (e *EvaluationSample) Rows() (z, y []float32, rows int) {
	sorted := slices.Clone(e.heap)
	slices.SortFunc(sorted, func(a, b sampleRow) int { return a.key.compare(b.key) })
	z = make([]float32, 0, len(e.z))
	y = make([]float32, 0, len(e.y))
	for _, r := range sorted {
		z = append(z, e.slotZ(r.slot)...)
		y = append(y, e.slotY(r.slot)...)
	}
	return z, y, len(sorted)
}

// IDs names the rows kept, in the order of [EvaluationSample.Rows].
func (e *EvaluationSample) IDs() []RowID {
	sorted := slices.Clone(e.heap)
	slices.SortFunc(sorted, func(a, b sampleRow) int { return a.key.compare(b.key) })
	ids := make([]RowID, len(sorted))
	for i, r := range sorted {
		ids[i] = r.key.id
	}
	return ids
}

func (e *EvaluationSample) slotZ(slot int) []float32 {
	return e.z[slot*e.features : (slot+1)*e.features]
}

func (e *EvaluationSample) slotY(slot int) []float32 {
	return e.y[slot*e.outputs : (slot+1)*e.outputs]
}

// Regression returns the errors of m on the rows kept. trainMean and units are the arguments of
// [NewRegression] and [Regression.InUnits].
func (e *EvaluationSample) Regression(m *Model, trainMean []float64, units Units) *Regression {
	r := NewRegression(trainMean).InUnits(units)
	pred, y, rows := e.predict(m)
	r.Add(pred, y, rows)
	return r
}

// Classification returns the errors of m on the rows kept, whose outputs are coded by
// [CodeClasses]. majority is the argument of [NewClassification].
func (e *EvaluationSample) Classification(m *Model, majority int32) *Classification {
	c := NewClassification(e.outputs, majority)
	c.Logits = m.Loss == LossLogistic
	pred, y, rows := e.predict(m)
	c.AddCoded(pred, y, rows)
	return c
}

func (e *EvaluationSample) predict(m *Model) (pred, y []float32, rows int) {
	z, y, rows := e.Rows()
	pred = make([]float32, len(y))
	m.Predict(pred, z, rows)
	return pred, y, rows
}
