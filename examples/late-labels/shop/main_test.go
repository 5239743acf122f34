package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/stages/stagestest"
)

func TestCheckJoin(t *testing.T) {
	o := options{brokers: stagestest.NewBroker(t).Addr(), rows: 400, seed: 3, timeout: time.Minute}
	command := func(name string) error { return run(t.Context(), o, []string{name}) }
	if err := command("make"); err != nil {
		t.Fatal(err)
	}
	if err := command("make"); err == nil || !strings.Contains(err.Error(), "without them") {
		t.Errorf("made twice: %v", err)
	}
	if err := command("check-join"); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("before there is a join: %v", err)
	}

	s := stagestest.Must(connect(o.brokers))
	defer s.client.Close()
	joined := join(
		stagestest.Must(read[order](t.Context(), s, topicEvents)),
		stagestest.Must(read[label](t.Context(), s, topicLabels)),
	)
	rows := slices.SortedFunc(maps.Values(joined), func(a, b labelled) int { return a.Time.Compare(b.Time) })
	send := func(rows ...labelled) {
		t.Helper()
		if err := write(t.Context(), s, topicLabelled, rows, func(l labelled) string { return l.ID }); err != nil {
			t.Fatal(err)
		}
	}
	send(rows...)
	if err := command("check-join"); err != nil {
		t.Error(err)
	}
	send(rows[5])
	if err := command("check-join"); err == nil || !strings.Contains(err.Error(), "1 repeated; twice: "+rows[5].ID) {
		t.Errorf("a row twice: %v", err)
	}
	if err := command("guess"); err == nil || !strings.Contains(err.Error(), "check-predictions") {
		t.Errorf("an unknown command: %v", err)
	}
}
