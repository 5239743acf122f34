package scoring

import (
	"encoding"
	"fmt"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// named is what every enumerated type offers.
type named interface {
	fmt.Stringer
	encoding.TextMarshaler
}

func TestNamesSurviveTheRoundTrip(t *testing.T) {
	checkNames(t, ParseMap, "cosine arccos0 arccos1 arccos2 linear",
		MapCosine, MapArcCosine0, MapArcCosine1, MapArcCosine2, MapLinear)
	checkNames(t, ParseDistribution, "gaussian cauchy laplace", Gaussian, Cauchy, Laplace)
	checkNames(t, ParseCriterion, "energy correlation residual", Energy, Correlation, Residual)
	checkNames(t, ParseTask, "regression binary multiclass", Regression, Binary, MultiClass)
}

// TestEveryMemberHasItsRow fails for a constant that was added without a row in its table, or without what every row has.
func TestEveryMemberHasItsRow(t *testing.T) {
	for m := range Map(mapCount) {
		row := m.row()
		if row.name == "" || len(row.distributions) == 0 || (row.kernel == kernel.Cosine) != m.HasPhase() || (row.kernel == kernel.Coordinate) != m.Coordinates() {
			t.Errorf("feature map %d: %+v", uint8(m), row)
		}
		c := candidatesOf(m, 3, 2)
		for _, d := range row.distributions {
			c.Distribution = d
			if f := c.DrawAll(); f.Validate() != nil || f.Len() != 2 {
				t.Errorf("feature map %v of distribution %v: %v", m, d, f.Validate())
			}
		}
	}
	for d := range Distribution(distributionCount) {
		if row := d.row(); row.name == "" || row.coordinate == nil || row.distance == nil || row.unit == 0 {
			t.Errorf("distribution %d: %+v", uint8(d), row)
		}
	}
	for c := range Criterion(criterionCount) {
		if row := c.row(); row.name == "" || row.perFeature == 0 || row.values == nil || row.strength == nil {
			t.Errorf("criterion %d: %+v", uint8(c), row)
		}
	}
	for task := range Task(taskCount) {
		if tasks[task].name == "" || tasks[task].code == nil {
			t.Errorf("task %d: %+v", uint8(task), tasks[task])
		}
	}
}

// checkNames checks that values have the names in texts and that an unknown name's error lists them all.
func checkNames[T interface {
	named
	comparable
}](t *testing.T, parse func(string) (T, error), texts string, values ...T) {
	t.Helper()
	for i, text := range strings.Fields(texts) {
		v, err := parse(text)
		if err != nil || v != values[i] || v.String() != text {
			t.Errorf("%q parses to %v, %v", text, v, err)
		}
		if b, err := v.MarshalText(); err != nil || string(b) != text {
			t.Errorf("%v marshals to %q, %v", v, b, err)
		}
	}
	_, err := parse("nonsense")
	if err == nil {
		t.Fatalf("%T: nonsense parses", values[0])
	}
	for _, text := range append(strings.Fields(texts), "nonsense") {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not mention %q", err, text)
		}
	}
}
