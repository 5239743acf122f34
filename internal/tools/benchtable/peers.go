package main

import (
	"fmt"
	"slices"
)

// peers writes the measurements of other programs next to our own lines with the same keys. A
// peer's line may lack keys of ours. Peers without a matching line are omitted.
func (p printer) peers(own, peers []*line) {
	if len(peers) == 0 {
		return
	}
	p.summary(peers)
	for group := range grouped(peers) {
		rated := slices.ContainsFunc(group, func(l *line) bool { return len(l.round[rate]) > 0 })
		header := append(group[0].keyHeader(), "cores", "peer", "its time", "our time")
		if rated {
			header = append(header, "its GF/s", "our GF/s")
		}
		header = append(header, "times as fast", "±")
		var rows [][]string
		for _, peer := range group {
			for _, l := range own {
				if l.measuresSame(peer) {
					rows = append(rows, peerRow(l, peer, rated))
				}
			}
		}
		if len(rows) > 0 {
			p.table(group[0].pkg+", compared with other programs", header, rows)
		}
	}
}

// rate is the unit of operations per second, which not all benchmarks have.
const rate = "GF/s"

func peerRow(l, peer *line, rated bool) []string {
	gains := l.gains(peer)
	row := append(peer.keyCells(), l.cores(), peer.by, peer.cell(seconds), l.cell(seconds))
	if rated {
		row = append(row, peer.cell(rate), l.cell(rate))
	}
	return append(row, fmt.Sprintf("%.2f", median(gains)), spread(gains))
}

// measuresSame reports whether l has all keys of peer, with the same values.
func (l *line) measuresSame(peer *line) bool {
	if l.pkg != peer.pkg || l.procs != peer.procs || l.name != peer.name {
		return false
	}
	for _, k := range peer.keys {
		if !slices.Contains(l.keys, k) {
			return false
		}
	}
	return true
}
