package featurize

import (
	"strconv"
	"strings"

	"github.com/eerf-stream/eerf/pipeline"
)

// sourceLog identifies the log of the offsets in the headers of outputs: its id and the number of
// truncations found. After a truncation the log holds other events at offsets that outputs already
// name, so it counts as a different log.
type sourceLog struct {
	id     pipeline.LogID
	losses int
}

// String returns `id`, or `id.losses` after truncations. Ids contain no dots.
func (s sourceLog) String() string {
	if s.losses == 0 {
		return string(s.id)
	}
	return string(s.id) + "." + strconv.Itoa(s.losses)
}

func parseSourceLog(text string) sourceLog {
	id, losses, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(losses)
	if err != nil || n < 0 {
		n = 0
	}
	return sourceLog{pipeline.LogID(id), n}
}

// after returns the log after a gap.
func (s sourceLog) after(g pipeline.Gap) sourceLog {
	if g.Kind == pipeline.GapRecreated {
		return sourceLog{id: g.Now}
	}
	return sourceLog{s.id, s.losses + 1}
}
