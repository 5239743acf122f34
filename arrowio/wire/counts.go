package wire

import "fmt"

// Counts holds the outcomes of the messages and rows read so far from one partition's start offset.
// A row has exactly one outcome, so the outcomes add up to Rows ([Counts.Reconciles]). HeldOut is a
// part of Scored. The last four count values, not rows, except UnseenClass.
type Counts struct {
	Messages    int64 `json:"messages"`    // messages read, decodable or not
	Undecodable int64 `json:"undecodable"` // messages refused whole; their rows are not in Rows
	// Tombstones are messages with a null value, which have no rows.
	Tombstones int64 `json:"tombstones,omitempty"`
	Rows       int64 `json:"rows"` // rows of the messages that decoded

	Scored     int64 `json:"scored"`      // rows added to the sums or held out of them
	NotSampled int64 `json:"not_sampled"` // rows whose hash is not below the sample rate
	Unlabelled int64 `json:"unlabelled"`  // sampled rows without a usable label
	Rejected   int64 `json:"rejected"`    // sampled rows with NaN, Inf or an out-of-bounds label

	// scored rows that are in the sample but not in the sums, see [scoring.HeldOut]
	HeldOut int64 `json:"held_out,omitempty"`

	Imputed        int64 `json:"imputed"`         // nulls replaced by the calibration mean
	UnseenCategory int64 `json:"unseen_category"` // categories without their own dimension
	Clipped        int64 `json:"clipped"`         // numeric values limited to ±clip
	UnseenClass    int64 `json:"unseen_class"`    // rows whose class the encoder does not know; also in Unlabelled
}

// Reconciles reports whether every row has exactly one outcome.
func (c Counts) Reconciles() bool {
	left := c.Rows
	for _, n := range []int64{c.Scored, c.NotSampled, c.Unlabelled, c.Rejected} {
		if n > left { // their sum may overflow
			return false
		}
		left -= n
	}
	return left == 0
}

// Validate returns an error for a negative count or for outcomes that do not add up to the rows.
func (c Counts) Validate() error {
	if min(c.Messages, c.Undecodable, c.Tombstones, c.Rows, c.Scored, c.NotSampled, c.Unlabelled, c.Rejected, c.HeldOut,
		c.Imputed, c.UnseenCategory, c.Clipped, c.UnseenClass) < 0 {
		return fmt.Errorf("negative count in %+v", c)
	}
	if !c.Reconciles() {
		return fmt.Errorf("%d rows, but %d scored, %d not sampled, %d unlabelled, %d rejected",
			c.Rows, c.Scored, c.NotSampled, c.Unlabelled, c.Rejected)
	}
	if c.HeldOut > c.Scored {
		return fmt.Errorf("%d rows held out of %d scored", c.HeldOut, c.Scored)
	}
	return nil
}
