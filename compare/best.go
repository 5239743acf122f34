package compare

import "math"

// markBest marks the line with the smallest error: as best if every other line's error is greater
// by more than noise, otherwise as tied, together with the lines within noise of it.
func (t *Table) markBest(least *Line, cellOf func(method string) *cell) {
	best := true
	for i := range t.Lines {
		l := &t.Lines[i]
		if l != least && l.counts() && !clearlyWorse(cellOf(l.Method), cellOf(least.Method)) {
			l.Tied, best = true, false
		}
	}
	least.Best, least.Tied = best, !best
}

// least returns the line with the smallest error other than but, or nil.
func (t *Table) least(but *Line) *Line {
	var least *Line
	for i := range t.Lines {
		l := &t.Lines[i]
		if l != but && l.counts() && (least == nil || l.Error.Mean < least.Error.Mean) {
			least = l
		}
	}
	return least
}

// counts reports whether an error was measured for the line.
func (l *Line) counts() bool { return l.Repeats > 0 }

// clearlyWorse reports whether the errors of a exceed those of b by more than two standard errors
// of the paired difference. If the test rows are the same in all repeats, their sampling error is
// added. A single repeat is never clear.
func clearlyWorse(a, b *cell) bool {
	diffs := differences(a.errors(), b.errors())
	if len(diffs) < 2 {
		return false
	}
	d := meanOf(diffs)
	noise := *d.Error
	if a.rowLoss != nil && b.rowLoss != nil {
		loss := make([]float64, len(a.rowLoss))
		for i := range loss {
			loss[i] = a.rowLoss[i]/float64(len(a.errors())) - b.rowLoss[i]/float64(len(b.errors()))
		}
		if rows := meanOf(loss).Error; rows != nil {
			noise = math.Hypot(noise, *rows)
		}
	}
	return d.Mean > 2*noise
}
