package main

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
)

// divide separates our own lines from the lines of other programs.
func divide(lines []*line) (own, peers []*line) {
	for _, l := range lines {
		if l.by != "" {
			peers = append(peers, l)
		} else {
			own = append(own, l)
		}
	}
	return own, peers
}

// benchmarks writes a table for each package and set of keys.
func (p printer) benchmarks(own []*line) {
	if len(own) == 0 {
		return
	}
	p.summary(own)
	for group := range grouped(own) {
		units := columnUnits(group)
		header := group[0].keyHeader()
		header = append(header, "cores", "time")
		for _, unit := range units {
			header = append(header, columnName(unit))
		}
		header = append(header, "±", "over one core")
		var rows [][]string
		for _, l := range group {
			rows = append(rows, ownRow(l, units, group))
		}
		p.table(group[0].pkg, header, rows)
	}
}

func ownRow(l *line, units []string, others []*line) []string {
	row := append(l.keyCells(), l.cores(), l.cell(seconds))
	for _, unit := range units {
		row = append(row, l.cell(unit))
	}
	return append(row, spread(l.round[seconds]), overOneCore(l, others))
}

// cores formats the number of processors, "" if unknown.
func (l *line) cores() string {
	if l.procs == 0 {
		return ""
	}
	return strconv.Itoa(l.procs)
}

// overOneCore returns the gain of l over the same benchmark on one processor, "" without one.
func overOneCore(l *line, others []*line) string {
	for _, other := range others {
		if l.procs > 1 && other.procs == 1 && other.name == l.name && slices.Equal(other.keys, l.keys) {
			return fmt.Sprintf("%.2f", median(l.gains(other)))
		}
	}
	return ""
}

// keyHeader returns the names of the first columns of a table of lines with these keys.
func (l *line) keyHeader() []string {
	header := []string{"benchmark"}
	for _, k := range l.keys {
		header = append(header, k.name)
	}
	return header
}

// keyCells returns the cells under keyHeader.
func (l *line) keyCells() []string {
	row := []string{l.name}
	for _, k := range l.keys {
		row = append(row, k.value)
	}
	return row
}

// grouped yields the lines of one package and one set of keys, groups in the order of their first
// lines.
func grouped(lines []*line) iter.Seq[[]*line] {
	groups := map[string][]*line{}
	var order []string
	for _, l := range lines {
		id := fmt.Sprint(l.pkg, l.keyHeader())
		if groups[id] == nil {
			order = append(order, id)
		}
		groups[id] = append(groups[id], l)
	}
	return func(yield func([]*line) bool) {
		for _, id := range order {
			if !yield(groups[id]) {
				return
			}
		}
	}
}

// columnUnits returns the units of a group that have a column in addition to the time, allocations
// last. Bytes are omitted: the number of allocations reveals unwanted ones, and the other bytes are
// results.
func columnUnits(group []*line) []string {
	var units []string
	allocations := false
	for _, l := range group {
		for _, unit := range l.units {
			switch {
			case unit == "allocs/op":
				allocations = true
			case unit != seconds && unit != "B/op" && !slices.Contains(units, unit):
				units = append(units, unit)
			}
		}
	}
	if allocations {
		units = append(units, "allocs/op")
	}
	return units
}
