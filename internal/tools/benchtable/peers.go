package main

import (
	"fmt"
	"slices"
)

// peers writes what other programs measured beside our own lines of the same keys. A peer's line may leave out keys
// that ours has; one that has no line of ours is left out.
func (p printer) peers(own, peers []*line) {
	if len(peers) == 0 {
		return
	}
	p.summary(peers)
	for group := range grouped(peers) {
		header := append(group[0].keyHeader(), "cores",
			"peer", "its time", "our time", "its GF/s", "our GF/s", "times as fast", "±")
		var rows [][]string
		for _, peer := range group {
			for _, l := range own {
				if l.measuresSame(peer) {
					rows = append(rows, peerRow(l, peer))
				}
			}
		}
		if len(rows) > 0 {
			p.table(group[0].pkg+", beside other programs", header, rows)
		}
	}
}

func peerRow(l, peer *line) []string {
	gains := l.gains(peer)
	return append(peer.keyCells(), l.cores(),
		peer.by, peer.cell(seconds), l.cell(seconds), peer.cell("GF/s"), l.cell("GF/s"),
		fmt.Sprintf("%.2f", median(gains)), spread(gains))
}

// measuresSame is whether peer measured what l did: every key of it is one of l, with the same value.
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
