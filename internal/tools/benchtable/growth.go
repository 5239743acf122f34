package main

import (
	"fmt"
	"path/filepath"
	"slices"
)

// panel is the measured growth of one benchmark along one key.
type panel struct {
	benchmark, vary string
	series          []series // by the number of processors, ascending
}

// series are the points of a panel that were measured on as many processors.
type series struct {
	procs  int
	points []*line // ascending in the varied key
}

// grow writes the fitted costs of every benchmark with varied keys and, into folder unless it is empty, a picture.
func grow(p printer, lines []*line, folder string) error {
	if len(lines) == 0 {
		return nil
	}
	var rows [][]string
	for _, m := range models {
		panels := panelsOf(m.benchmark, lines)
		if len(panels) == 0 {
			continue
		}
		f, err := m.fit(panels)
		if err != nil {
			return err
		}
		rows = append(rows, f.rows()...)
		if folder == "" {
			continue
		}
		if err := drawPicture(filepath.Join(folder, m.picture+".svg"), panels, f); err != nil {
			return err
		}
	}
	if len(rows) == 0 {
		return fmt.Errorf("varied keys, but no benchmark that has a cost model: %s", lines[0].name)
	}
	p.summary(lines)
	p.table("Fitted costs", []string{"call", "cores", "operations", "rate", "typical error", "largest error"}, rows)
	return nil
}

// panelsOf sorts the lines of a benchmark into panels, in the order of the benchmark.
func panelsOf(benchmark string, lines []*line) []panel {
	var panels []panel
	for _, l := range lines {
		if l.name != benchmark {
			continue
		}
		vary := l.get("vary")
		at := slices.IndexFunc(panels, func(p panel) bool { return p.vary == vary })
		if at < 0 {
			at = len(panels)
			panels = append(panels, panel{benchmark: benchmark, vary: vary})
		}
		panels[at].add(l)
	}
	return panels
}

func (p *panel) add(l *line) {
	at := slices.IndexFunc(p.series, func(s series) bool { return s.procs == l.procs })
	if at < 0 {
		at = len(p.series)
		p.series = append(p.series, series{procs: l.procs})
	}
	p.series[at].points = append(p.series[at].points, l)
}
