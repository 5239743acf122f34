package status

import (
	"slices"
	"time"
)

// How closely the past is kept: the last minutes and the last hours.
const (
	pointEvery   = 2 * time.Second
	seriesPoints = 300 // ten minutes
	hourEvery    = time.Minute
	hourPoints   = 360 // six hours
)

// curves are the recent past, in bounded memory.
type curves struct{ minutes, hours ring }

func newCurves() curves {
	return curves{ring{every: pointEvery, keep: seriesPoints}, ring{every: hourEvery, keep: hourPoints}}
}

// add adds a moment, and reports whether the hours got a point.
func (c *curves) add(now time.Time, p Point) (hour bool) {
	if c.hours.last.IsZero() {
		c.hours.last = now
	}
	c.minutes.add(now, p)
	if hour = c.hours.due(now); hour {
		c.hours.add(now, summary(c.minutes.since(c.hours.last)))
	}
	return hour
}

// ring keeps the newest points.
type ring struct {
	every  time.Duration // between two points
	keep   int           // points
	points []Point
	last   time.Time
}

// due reports whether it is time for a point.
func (r *ring) due(now time.Time) bool { return now.Sub(r.last) >= r.every-pointEvery/10 }

// add appends a point.
func (r *ring) add(now time.Time, p Point) {
	r.last = now
	if r.points = append(r.points, p); len(r.points) > r.keep {
		r.points = append(r.points[:0], r.points[len(r.points)-r.keep:]...)
	}
}

// since returns the points newer than a time.
func (r *ring) since(t time.Time) []Point {
	from := len(r.points)
	for from > 0 && r.points[from-1].Time > seconds(t) {
		from--
	}
	return r.points[from:]
}

// series returns the points as one list for each line.
func (r *ring) series() Series {
	s := Series{EverySeconds: r.every.Seconds(), Time: []float64{}, Scored: []*float64{}, Featurized: []*float64{},
		Trained: []*float64{}, In: []*float64{}, Out: []*float64{}, Waiting: []*float64{}, Letters: []*float64{}}
	for _, p := range r.points {
		s.Time = append(s.Time, p.Time)
		s.Scored, s.Featurized, s.Trained = append(s.Scored, p.Scored), append(s.Featurized, p.Featurized), append(s.Trained, p.Trained)
		s.In, s.Out, s.Waiting, s.Letters = append(s.In, p.In), append(s.Out, p.Out), append(s.Waiting, p.Waiting), append(s.Letters, p.Letters)
	}
	return s
}

// summary combines several points: the means of rates, the most that waited, the newest count of letters.
func summary(points []Point) Point {
	if len(points) == 0 {
		return Point{}
	}
	over := func(combine func(values []float64) float64, of func(p *Point) *float64) *float64 {
		var known []float64
		for i := range points {
			if v := of(&points[i]); v != nil {
				known = append(known, *v)
			}
		}
		if len(known) == 0 {
			return nil
		}
		v := combine(known)
		return &v
	}
	return Point{
		Time:       points[len(points)-1].Time,
		Scored:     over(mean, func(p *Point) *float64 { return p.Scored }),
		Featurized: over(mean, func(p *Point) *float64 { return p.Featurized }),
		Trained:    over(mean, func(p *Point) *float64 { return p.Trained }),
		In:         over(mean, func(p *Point) *float64 { return p.In }),
		Out:        over(mean, func(p *Point) *float64 { return p.Out }),
		Waiting:    over(slices.Max[[]float64], func(p *Point) *float64 { return p.Waiting }),
		Letters:    over(newest, func(p *Point) *float64 { return p.Letters }),
	}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func newest(values []float64) float64 { return values[len(values)-1] }

// seconds is a time since 1970.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
