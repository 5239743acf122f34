package scoring

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// plainSet is a valid set of features with weights.
func plainSet(f *Features) *FeatureSet {
	fs := &FeatureSet{Features: f, Scale: 0.25}
	for i := range f.Len() {
		fs.Index = append(fs.Index, int32(i))
		fs.Score = append(fs.Score, 1)
		fs.S = append(fs.S, 1)
		fs.Weight = append(fs.Weight, float32(i%4)-1)
	}
	return fs
}

func TestTransformAgreesWithTheReference(t *testing.T) {
	for _, dim := range []int{1, 3, 7, 8, 15, 16, 17, 63, 64, 65, 128, 784} {
		var sets []*Features
		if dim < 20 { // the arguments of more numbers are too large for the tolerance
			sets = append(sets, mixedFeatures(dim, 1), mixedFeatures(dim, 3), mixedFeatures(dim, 50))
		}
		for _, m := range allMaps {
			sets = append(sets, drawFeatures(m, dim, 11))
		}
		for _, f := range sets {
			fs := plainSet(f)
			tr := NewTransformer(fs)
			for _, rows := range []int{0, 1, 2, 7, 8, 9, 130} {
				x := normalRows(9, rows, dim)
				before := slices.Clone(x)
				dst := make([]float32, rows*tr.Len())
				tr.Transform(dst, x, rows)
				for i, got := range dst {
					j := i % tr.Len()
					want := float64(fs.Weight[j]) * 0.25 * referencePhi(f, j, x[i/tr.Len()*dim:][:dim])
					near(t, fmt.Sprint(f.Map, " ", f.Kind(j)), float64(got), want, 2e-5*(1+math.Abs(want)))
				}
				if !slices.Equal(x, before) {
					t.Fatalf("%v: the rows changed", f.Map)
				}
			}
		}
	}
}

func TestFeaturesOfARowDoNotDependOnOtherRows(t *testing.T) {
	f := drawFeatures(MapCosine, 77, 130)
	const rows = 300
	x := normalRows(4, rows, 77)
	together := transform(f, x, rows)
	for i := range rows {
		if !slices.Equal(transform(f, x[i*77:(i+1)*77], 1), together[i*130:(i+1)*130]) {
			t.Fatalf("row %d differs", i)
		}
	}
}

func TestTransformRefusesWrongShapes(t *testing.T) {
	tr := NewTransformer(plainSet(drawFeatures(MapCosine, 3, 4)))
	panics(t, "scoring: 6 numbers to 7 for 2 rows", func() { tr.Transform(make([]float32, 7), make([]float32, 6), 2) })
	panics(t, "scoring: 5 numbers to 8 for 2 rows", func() { tr.Transform(make([]float32, 8), make([]float32, 5), 2) })
	panics(t, "scoring: invalid feature set", func() { NewTransformer(&FeatureSet{}) })
}

func TestFeatureSetsFromOutsideAreChecked(t *testing.T) {
	for want, damage := range map[string]func(fs *FeatureSet){
		"4 features with 3 indices":     func(fs *FeatureSet) { fs.Index = fs.Index[1:] },
		"4 indices, 5 scores":           func(fs *FeatureSet) { fs.Score = append(fs.Score, 1) },
		"and 2 weights":                 func(fs *FeatureSet) { fs.Weight = fs.Weight[2:] },
		"3 values of S":                 func(fs *FeatureSet) { fs.S = fs.S[1:] },
		"weight of feature 2 is +Inf":   func(fs *FeatureSet) { fs.Weight[2] = float32(math.Inf(1)) },
		"scale is 0":                    func(fs *FeatureSet) { fs.Scale = 0 },
		"feature set has no features":   func(fs *FeatureSet) { fs.Features = nil },
		"phases for":                    func(fs *FeatureSet) { fs.Features.Phase = nil },
		"0 features with 4 indices":     func(fs *FeatureSet) { fs.Features = &Features{Dim: 1, Phase: []float32{}} },
		"omega has 7 numbers, not a mu": func(fs *FeatureSet) { fs.Features.Omega = fs.Features.Omega[1:] },
	} {
		fs := plainSet(drawFeatures(MapCosine, 2, 4))
		if err := fs.Validate(); err != nil {
			t.Fatal(err)
		}
		damage(fs)
		if err := fs.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
