package cli

import (
	"fmt"

	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// Choosing describes the progress of a selection: the current round, the maximum number of rounds,
// and the last measurement, if any.
func Choosing(round, rounds int, last *adaptive.Point) string {
	switch {
	case last == nil:
		return fmt.Sprintf("choosing features, round %d of at most %d", round, rounds)
	case last.Kind == adaptive.ByStep:
		return fmt.Sprintf("moving features, step %d, held-out loss %.4g %%", last.Step, 100*last.Loss)
	}
	return fmt.Sprintf("choosing features, round %d of at most %d, held-out loss %.4g %%", round, rounds, 100*last.Loss)
}
