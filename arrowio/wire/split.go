package wire

import (
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/rowid"
)

// The ways to choose the rows of a file that are held out.
const (
	SplitRandom = "random" // by row hash, see [training.HeldOut]
	SplitTime   = "time"   // the last ones
)

// Split defines the rows of a file that no exploration read, so that λ is chosen and errors are
// measured on rows that taught nothing.
type Split struct {
	By string `json:"by"`
	// the column whose values order the rows; empty = their order in the file
	Column   string  `json:"column,omitempty"`
	Fraction float64 `json:"fraction"`              // share of the rows that is held out
	Seed     uint64  `json:"seed,omitempty,string"` // of the row hash
	// Identity says which rows are on the same side.
	Identity rowid.Rule `json:"identity,omitzero"`
}

// String names the held-out rows.
func (s Split) String() string {
	switch {
	case s.By != SplitTime && s.Identity.ByPlace():
		return fmt.Sprintf("%.3g %% of the rows, by hash", 100*s.Fraction)
	case s.By != SplitTime:
		return fmt.Sprintf("%.3g %% of the rows, by hash of %v", 100*s.Fraction, s.Identity)
	case s.Column == "":
		return fmt.Sprintf("the last %.3g %% of the rows in the order of the file", 100*s.Fraction)
	}
	return fmt.Sprintf("the last %.3g %% of the rows by column %q", 100*s.Fraction, s.Column)
}

// validate reports an unknown rule; nil is no rule and valid.
func (s *Split) validate() error {
	if s == nil ||
		(s.By == SplitRandom && s.Column == "" || s.By == SplitTime) && s.Fraction >= 0 && s.Fraction < 1 &&
			s.Identity.Validate() == nil {
		return nil
	}
	return fmt.Errorf("split %+v is not a way to hold rows out", *s)
}
