package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"

	"github.com/eerf-stream/eerf/scoring"
)

// idHexDigits is the length of the hexadecimal part of an ID: 128 bits of a SHA-256.
const idHexDigits = 32

// ID names the set by its mathematics: "fs-" and the first 32 hexadecimal digits of the SHA-256
// over
//
//	"eerf.feature_set/1"
//	encoder         the encoder's JSON, as in the schema metadata under "eerf.encoder"
//	map             the feature map's name
//	shape           M, width, dim, K: four int64
//	omega           float32, [M][width]
//	phase           float32, [M]; empty for a map without phases
//	weight          float32, [M]; ones when the set has no weights
//	scale           one float32
//	score           float64, [M]
//	s               float64, [M][K]
//
// A set of mixed kinds begins with "eerf.feature_set/2", omega and phase cover only cosines and
// ramps, and after phase follow
//
//	kinds           numbers of cosines, ramps, hinges, boxes: four int64
//	order           q of the hinges and boxes: int64 each
//	coordinate      int64, sign and threshold float32, of all their factors: three parts
//
// A set of several members ends with
//
//	members         the members of each feature, 1<<j for member j: int64, [M]
//
// each part preceded by its length in bytes as uint64, every number little-endian. Lineage,
// candidates, indexes and coding are not hashed. It panics on a set that [FeatureSet.Validate]
// refuses.
func (f *FeatureSet) ID() string {
	id, err := f.id()
	if err != nil {
		panic(fmt.Sprintf("wire: id of an invalid feature set: %v", err))
	}
	return id
}

// id is ID for sets that may be invalid.
func (f *FeatureSet) id() (string, error) {
	if err := f.Validate(); err != nil {
		return "", err
	}
	enc, err := f.Encoder.CanonicalJSON()
	if err != nil {
		return "", err
	}
	set := f.Set.Features
	h := newIDHash(f.idDomain())
	h.text(string(enc))
	h.text(set.Map.String())
	h.int64s(int64(set.Len()), int64(set.Width()), int64(set.Dim), int64(f.outputs()))
	h.float32s(set.Omega)
	h.float32s(set.Phase)
	if set.Mixed() {
		h.products(set)
	}
	h.float32s(f.weights())
	h.float32s([]float32{f.Set.Scale})
	h.float64s(f.Set.Score)
	h.float64s(f.Set.S)
	if f.Set.Members != nil {
		members := make([]int64, len(f.Set.Members))
		for i, m := range f.Set.Members {
			members[i] = int64(m)
		}
		h.int64s(members...)
	}
	return h.id("fs-"), nil
}

// idDomain is the first part of the hash.
func (f *FeatureSet) idDomain() string {
	if f.Set.Features.Mixed() {
		return "eerf.feature_set/2"
	}
	return "eerf.feature_set/1"
}

// products hashes the kinds of a set and the factors of its products.
func (h *idHash) products(f *scoring.Features) {
	n := f.Kinds()
	var order, coordinate []int64
	var sign, threshold []float32
	for _, p := range f.Products {
		order = append(order, int64(p.Order))
		for a := range p.Order {
			coordinate, sign, threshold = append(
				coordinate,
				int64(p.Coordinate[a]),
			), append(
				sign,
				p.Sign[a],
			), append(
				threshold,
				p.Threshold[a],
			)
		}
	}
	h.int64s(int64(n.Cosine), int64(n.Ramp), int64(n.Hinge), int64(n.Box))
	h.int64s(order...)
	h.int64s(coordinate...)
	h.float32s(sign)
	h.float32s(threshold)
}

// weights returns one weight for each feature, ones if the set has none.
func (f *FeatureSet) weights() []float32 {
	if f.Set.Weight != nil {
		return f.Set.Weight
	}
	w := make([]float32, f.Set.Features.Len())
	for i := range w {
		w[i] = 1
	}
	return w
}

// idHash hashes parts, each preceded by its length, so that no two lists of parts give the same
// bytes.
type idHash struct {
	sum     hash.Hash
	scratch []byte
}

func newIDHash(domain string) *idHash {
	h := &idHash{sum: sha256.New()}
	h.text(domain)
	return h
}

func (h *idHash) text(s string) {
	h.length(len(s))
	h.sum.Write([]byte(s))
}

func (h *idHash) int64s(v ...int64) {
	h.scratch = h.scratch[:0]
	for _, x := range v {
		h.scratch = binary.LittleEndian.AppendUint64(h.scratch, uint64(x))
	}
	h.flush()
}

func (h *idHash) float32s(v []float32) {
	h.scratch = h.scratch[:0]
	for _, x := range v {
		h.scratch = binary.LittleEndian.AppendUint32(h.scratch, math.Float32bits(x))
	}
	h.flush()
}

func (h *idHash) float64s(v []float64) {
	h.scratch = h.scratch[:0]
	for _, x := range v {
		h.scratch = binary.LittleEndian.AppendUint64(h.scratch, math.Float64bits(x))
	}
	h.flush()
}

// flush hashes the scratch bytes as one part.
func (h *idHash) flush() {
	h.length(len(h.scratch))
	h.sum.Write(h.scratch)
}

func (h *idHash) length(n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	h.sum.Write(b[:])
}

// id returns the prefix and the leading digits of the hash.
func (h *idHash) id(prefix string) string {
	return prefix + hex.EncodeToString(h.sum.Sum(nil))[:idHexDigits]
}
