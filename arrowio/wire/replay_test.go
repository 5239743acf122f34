package wire

import (
	"slices"
	"strings"
	"testing"
)

func TestReplayHeadersRoundTrip(t *testing.T) {
	for _, rows := range [][]int32{nil, {0}, {3, 5, 6, 7}, {0, 1, 2147483647}} {
		replay := Replay{"events", 3, 1207, rows, 17}
		headers := append([]Header{{"user", []byte("x")}}, Replay{"other", 1, 1, []int32{1}, 1}.Headers()...)
		diff(t, replay, must(ParseReplayHeaders(append(headers, replay.Headers()...))))
		if _, ok, err := ParseReplayNote(replay.Headers()); ok || err != nil {
			t.Errorf("the headers of an event pass for a note: %v", err)
		}
		for _, done := range []bool{false, true} {
			note := ReplayNote{replay, done, 99}
			got, ok, err := ParseReplayNote(note.Headers())
			if !ok || err != nil {
				t.Fatalf("%v, %v", ok, err)
			}
			diff(t, note, got)
		}
	}
}

func TestReplayHeadersRefuseNonsense(t *testing.T) {
	good := ReplayNote{Replay{"events", 3, 1207, []int32{3}, 17}, true, 99}.Headers()
	for i := range good {
		if good[i].Key == HeaderReplayState {
			continue // without it, it is no note
		}
		_, ok, err := ParseReplayNote(slices.Delete(slices.Clone(good), i, i+1))
		if !ok {
			t.Fatal("not a note")
		}
		wantError(t, err, ErrHeaders)
	}
	for _, rows := range []string{",", "x", "-1", "1-", "3-2", "2,1", "1,1", "0-2147483647", "0-4096", "2147483648", strings.Repeat("9", 99)} {
		headers := slices.Clone(good)
		headers[3] = textHeader(HeaderReplayRows, rows)
		if _, err := ParseReplayHeaders(headers); err == nil {
			t.Errorf("rows %q pass", rows)
		}
	}
	headers := slices.Clone(good)
	headers[5] = textHeader(HeaderReplayState, "half")
	_, _, err := ParseReplayNote(headers)
	wantError(t, err, ErrHeaders)
	if _, err := parseRows("0-4095"); err != nil {
		t.Errorf("as many rows as may be: %v", err)
	}
}

func TestOwnHeadersAreKnown(t *testing.T) {
	own := append(DeadLetter{}.Headers(), ReplayNote{}.Headers()...)
	for _, h := range own {
		if !IsOwnHeader(h.Key) {
			t.Errorf("%s", h.Key)
		}
	}
	for _, key := range []string{"", "trace", "__connect.errors.topic", HeaderFeatureSet} {
		if IsOwnHeader(key) {
			t.Errorf("%s", key)
		}
	}
}
