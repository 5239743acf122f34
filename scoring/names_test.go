package scoring

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
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

func TestUnknownMembersAreNoOthers(t *testing.T) {
	s := someSums(1, 5)
	panics(t, "scoring: criterion(4)", func() { CriterionValues(s, Regression, criterionCount) })
	panics(t, "scoring: criterion(4)", func() { Criterion(criterionCount).NeedsRows() })
	panics(t, "scoring: feature map(5)", func() { Map(mapCount).Bounded() })
	panics(t, "scoring: unknown task", func() { s.Coding(taskCount) })
	panics(t, "scoring: distribution(3)", func() { Bandwidth(make([]float32, 4), 2, 2, distributionCount, MapCosine) })
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

func TestCandidatesTravelAsJSON(t *testing.T) {
	c := Candidates{Map: MapCosine, Distribution: Laplace, Sigma: 2.5, Seed: 7, Dim: 3, Count: 10}
	b, err := json.Marshal(c)
	const want = `{"map":"cosine","distribution":"laplace","sigma":2.5,"seed":7,"dim":3,"count":10}`
	if err != nil || string(b) != want {
		t.Errorf("marshals to %s, %v, want %s", b, err, want)
	}
	var back Candidates
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, c) {
		t.Errorf("unmarshals to %+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"map":"sine"}`), &back); err == nil {
		t.Error("an unknown map unmarshals")
	}
}

func TestValuesOutsideTheEnumerationDoNotMarshal(t *testing.T) {
	if b, err := json.Marshal(Map(99)); err == nil {
		t.Errorf("marshals to %s", b)
	}
	if got := Task(99).String(); got != "task(99)" {
		t.Errorf("prints as %q", got)
	}
}
