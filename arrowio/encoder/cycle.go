package encoder

import "math"

// Cycle is a period for which a time column has two dimensions: the sine and the cosine of the part
// of the period that has elapsed.
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
	// start is a second at which a period begins, seconds its length.
	start, seconds float64
}

// secondsOfDay is the length of a day.
const secondsOfDay = 24 * 60 * 60

// cycles are all cycles in the order of their dimensions.
var cycles = [...]cycleFacts{
	{Day, "hour of day", 0, secondsOfDay},
	{Week, "day of week", 4 * secondsOfDay, 7 * secondsOfDay}, // 5 January 1970 was a Monday
	{Year, "day of year", 0, 365.2425 * secondsOfDay},
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

// place returns the two dimensions of a time in seconds.
func (f *cycleFacts) place(seconds float64) (sin, cos float64) { return sinCosTurn(f.phase(seconds)) }

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
