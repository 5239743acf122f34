package scoring

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// named is what every enumerated type offers.
type named interface {
	fmt.Stringer
	encoding.TextMarshaler
}

func TestNamesSurviveTheRoundTrip(t *testing.T) {
	checkNames(t, ParseMap, "cosine arccos0 arccos1 arccos2 linear",
		MapCosine, MapArcCosine0, MapArcCosine1, MapArcCosine2, MapLinear)
	checkNames(t, ParseDistribution, "gaussian cauchy laplace matern uniform", Gaussian, Cauchy, Laplace, Matern, Uniform)
	checkNames(t, ParseSampler, "iid", IID)
	checkNames(t, ParseCriterion, "energy correlation", Energy, Correlation)
	checkNames(t, ParseTask, "regression binary multiclass", Regression, Binary, MultiClass)
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
	c := Candidates{Map: MapCosine, Distribution: Matern, Nu: 1.5, Sampler: IID, Sigma: 2.5, Seed: 7, Dim: 3, Count: 10}
	b, err := json.Marshal(c)
	const want = `{"map":"cosine","distribution":"matern","nu":1.5,"sampler":"iid","sigma":2.5,"seed":7,"dim":3,"count":10}`
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
