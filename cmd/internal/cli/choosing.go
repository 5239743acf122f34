package cli

import (
	"fmt"

	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// Choosing says how far a selection has come: the current round, the most rounds that there may be, and the last measurement,
// if any.
func Choosing(round, rounds int, last *adaptive.Point) string {
	switch {
	case last == nil:
		return fmt.Sprintf("choosing features, round %d of at most %d", round, rounds)
	case last.Kind == adaptive.ByStep:
		return fmt.Sprintf("moving features, step %d, held-out loss %.4g %%", last.Step, 100*last.Loss)
	}
	return fmt.Sprintf("choosing features, round %d of at most %d, held-out loss %.4g %%", round, rounds, 100*last.Loss)
}
