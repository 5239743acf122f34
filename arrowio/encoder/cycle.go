package encoder

import (
	"math"
	"time"
)

// Cycle is a period for which a time column has three dimensions: the part of the period that has
// elapsed, scaled to -1 to 1, and its sine and cosine. Thresholds cut the elapsed part where sine
// and cosine have two times for each value; these in turn have no jump between the last hour and
// the first. A time of day has only sine and cosine, because it is the elapsed part itself.
type Cycle string

// The cycles, in the order of their dimensions. All are in UTC.
const (
	// Day tells the hours of the day apart.
	Day Cycle = "day"
	// Week tells the days of the week apart; it begins on Monday.
	Week Cycle = "week"
	// Year tells the seasons apart. It is the mean Gregorian year, counted from the start of 1970,
	// so within the centuries around 1970 the same day of two years is less than two days apart.
	Year Cycle = "year"
)

// cycleFacts describes a cycle.
type cycleFacts struct {
	cycle Cycle
	// name is the usual name for the place in the cycle.
	name string
	// format is how a place is written, see [time.Time.Format].
	format string
	// start is a second at which a period begins, seconds its length.
	start, seconds float64
}

// secondsOfDay is the length of a day.
const secondsOfDay = 24 * 60 * 60

// cycles are all cycles in the order of their dimensions.
var cycles = [...]cycleFacts{
	{Day, "hour of day", "15:04", 0, secondsOfDay},
	{Week, "day of week", "Mon 15:04", 4 * secondsOfDay, 7 * secondsOfDay}, // 5 January 1970 was a Monday
	{Year, "day of year", "2 Jan", 0, 365.2425 * secondsOfDay},
}

// facts returns the row of a cycle, nil for an unknown one.
func (c Cycle) facts() *cycleFacts {
	for i := range cycles {
		if cycles[i].cycle == c {
			return &cycles[i]
		}
	}
	return nil
}

// Period returns a second at which a period begins, counted as times are, and the length of a
// period in seconds. It panics for a cycle that [Encoder.Validate] refuses.
func (c Cycle) Period() (start, seconds float64) {
	f := c.facts()
	return f.start, f.seconds
}

// phase returns how far into its period a time in seconds is, from 0 to 1.
func (f *cycleFacts) phase(seconds float64) float64 {
	t := seconds - f.start
	var into float64
	if math.Abs(t) < exactSeconds {
		// The product is exact, so fusing it with the difference changes nothing.
		into = t - math.Floor(t/f.seconds)*f.seconds
	} else {
		into = math.Mod(t, f.seconds)
	}
	if into < 0 { // also if the quotient was rounded up to a whole number
		into += f.seconds
	}
	return into / f.seconds
}

// exactSeconds bounds the times for which the seconds of all whole periods are an exact float64.
const exactSeconds = 1 << 50

// cycleNames tell the dimensions of a cycle apart.
var cycleNames = [...]string{" (sin)", " (cos)", ""}

// place returns the dimensions of a time in seconds, in the order of their names.
func (f *cycleFacts) place(seconds float64) [len(cycleNames)]float64 {
	return placeOf(f.phase(seconds))
}

// placeOf returns the dimensions of a phase.
func placeOf(phase float64) [len(cycleNames)]float64 {
	sin, cos := sinCosTurn(phase)
	return [...]float64{sin, cos, 2*phase - 1}
}

// elapsed returns the cycle whose elapsed part dimension j of the column is, nil for other
// dimensions.
func (c *Column) elapsed(j int) *cycleFacts {
	at, dims := j-c.values(), c.CycleDims()
	if at < 0 || at >= dims*len(c.Cycles) || cycleNames[at%dims] != "" {
		return nil
	}
	return c.Cycles[at/dims].facts()
}

// value is a value of the elapsed part as people write it.
func (f *cycleFacts) value(elapsed float64) string {
	seconds := f.start + float64((elapsed+1)/2*f.seconds)
	return time.Unix(0, 0).UTC().Add(time.Duration(seconds * float64(time.Second))).Format(f.format)
}

// CycleDims returns how many of its dimensions each cycle of the column has.
func (c *Column) CycleDims() int {
	if c.Kind == Clock {
		return len(cycleNames) - 1
	}
	return len(cycleNames)
}

// sinCosTurn returns sine and cosine of 2π·phase for a phase from 0 to 1, within 1e-11 and with the
// same bits on every processor: the conversions keep products from being fused with sums.
func sinCosTurn(phase float64) (sin, cos float64) {
	quarter := math.Floor(4*phase + 0.5)
	r := (phase - quarter/4) * (2 * math.Pi) // within ±π/4
	r2 := float64(r * r)
	s, c := sinSeries[0], cosSeries[0]
	for k := 1; k < len(sinSeries); k++ {
		s = float64(s*r2) + sinSeries[k]
		c = float64(c*r2) + cosSeries[k]
	}
	s *= r
	switch int(quarter) % 4 {
	case 0:
		return s, c
	case 1:
		return c, -s
	case 2:
		return -s, -c
	default:
		return -c, s
	}
}

// The Taylor series of sin(r)/r and cos(r) in r², from the last term to the first.
var (
	sinSeries = [...]float64{1. / 6227020800, -1. / 39916800, 1. / 362880, -1. / 5040, 1. / 120, -1. / 6, 1}
	cosSeries = [...]float64{1. / 479001600, -1. / 3628800, 1. / 40320, -1. / 720, 1. / 24, -1. / 2, 1}
)
