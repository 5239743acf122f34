package scoring

import (
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

func TestNamesRoundTrip(t *testing.T) {
	checkNames(t, mapNames, "cosine arccos0 arccos1 arccos2 linear")
	checkNames(t, distributionNames, "gaussian cauchy laplace")
	checkNames(t, criterionNames, "energy correlation residual adaptive")
	checkNames(t, taskNames, "regression binary multiclass")
}

// checkNames checks that the values have the names in texts and that an unknown name's error lists
// them all.
func checkNames[E ~uint8](t *testing.T, n names[E], texts string) {
	t.Helper()
	for i, text := range strings.Fields(texts) {
		var v E
		written, err := n.marshal(E(i))
		if err != nil || string(written) != text || n.unmarshal(&v, written) != nil || v != E(i) {
			t.Errorf("%s number %d is written %q and read as %d: %v", n.kind, i, written, v, err)
		}
	}
	var v E
	if err := n.unmarshal(&v, []byte("nonsense")); err == nil ||
		!strings.Contains(err.Error(), strings.Join(n.text, ", ")) {
		t.Errorf("nonsense: %v", err)
	}
	if _, err := n.marshal(99); err == nil {
		t.Errorf("%s number 99 marshals", n.kind)
	}
}

// TestEveryMemberHasItsRow fails for a constant that was added without a row in its table, or
// without what every row has.
func TestEveryMemberHasItsRow(t *testing.T) {
	for m := range Map(mapCount) {
		row := m.row()
		if row.name == "" || len(row.distributions) == 0 || (row.kernel == kernel.Cosine) != m.HasPhase() ||
			(row.kernel == kernel.Coordinate) != m.Coordinates() {
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
		if row := c.row(); row.name == "" || row.values == nil || row.strength == nil {
			t.Errorf("criterion %d: %+v", uint8(c), row)
		}
	}
	for task := range Task(taskCount) {
		if tasks[task].name == "" || tasks[task].code == nil {
			t.Errorf("task %d: %+v", uint8(task), tasks[task])
		}
	}
}
