package encoder

import "math"

// Cycle is a period that a time column has two dimensions for: the sine and the cosine of how far into the period a
// time is.
type Cycle string

// The cycles, in the order of their dimensions. All are of UTC.
const (
	// Day tells the hours of the day apart.
	Day Cycle = "day"
	// Week tells the days of the week apart; it begins on Monday.
	Week Cycle = "week"
	// Year tells the seasons apart. It is the mean Gregorian year, counted from the beginning of 1970, so that the same
	// day of two years is less than two days apart within the centuries around it.
	Year Cycle = "year"
)

// cycleFacts is what is to be known of a cycle.
type cycleFacts struct {
	cycle Cycle
	// name is what people call the place in the cycle.
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

// phase returns how far into its period a time in seconds is, from 0 to 1.
func (f *cycleFacts) phase(seconds float64) float64 {
	into := math.Mod(seconds-f.start, f.seconds)
	if into < 0 {
		into += f.seconds
	}
	return into / f.seconds
}

// place returns the two dimensions of a time in seconds.
func (f *cycleFacts) place(seconds float64) (sin, cos float64) { return sinCosTurn(f.phase(seconds)) }

// sinCosTurn returns sine and cosine of 2π·phase for a phase from 0 to 1, within 1e-11 and with the same bits on every
// processor: the conversions keep products from being fused with sums.
func sinCosTurn(phase float64) (sin, cos float64) {
	quarter := math.Floor(4*phase + 0.5)
	r := (phase - quarter/4) * (2 * math.Pi) // within ±π/4
	r2 := float64(r * r)
	s, c := 1.0, 1.0
	for k := 12.0; k >= 2; k -= 2 {
		s = 1 - float64(r2*s)/(k*(k+1))
		c = 1 - float64(r2*c)/(k*(k-1))
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
