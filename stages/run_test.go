package stages

import (
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/stages/meter"
)

func TestCheckNames(t *testing.T) {
	if err := CheckNames(meter.Stages()); err != nil {
		t.Error(err)
	}
	for _, names := range [][]string{nil, {"train", "trian"}} {
		if err := CheckNames(names); err == nil || !strings.Contains(err.Error(), "calibrate, subsample, select, featurize, train") {
			t.Errorf("%v: error %v does not list the stages", names, err)
		}
	}
}
