package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/eerf-stream/eerf/internal/printable"
)

// hub holds the newest text of each section, for any number of streams. Each stream compares the
// sections that it has sent with the newest ones, at its own pace, so nothing queues up for a slow
// one.
type hub struct {
	mu       sync.Mutex
	sections map[string]section
	snapshot Snapshot
	changed  chan struct{} // closed and replaced at each change
	open     int           // number of streams
}

// section is a text and the number of its changes.
type section struct {
	text    []byte
	version int
}

// sectionNames lists the sections that are sent on change, in the order in which a new stream
// receives them.
var sectionNames = []string{"process", "live", "flow", "exploration", "history", "letters", "point"}

func newHub() *hub { return &hub{sections: map[string]section{}, changed: make(chan struct{})} }

// setAll stores a snapshot.
func (h *hub) setAll(s Snapshot) {
	h.set("process", s.Process)
	h.set("live", s.Live)
	h.set("flow", s.Flow)
	h.set("exploration", s.Exploration)
	h.set("history", s.History)
	h.set("letters", s.Letters)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.snapshot = s
	close(h.changed)
	h.changed = make(chan struct{})
}

// set stores a section.
func (h *hub) set(name string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		text = fmt.Appendf(nil, "{\"error\": %q}", err) // a number that JSON cannot hold; the other sections are still shown
	}
	text = printable.URLsInJSON(text)
	h.mu.Lock()
	defer h.mu.Unlock()
	if last := h.sections[name]; !bytes.Equal(last.text, text) {
		h.sections[name] = section{text, last.version + 1}
	}
}

// newest returns the sections newer than those sent, the whole snapshot, and a channel that is
// closed on the next change.
func (h *hub) newest(sent map[string]int) (news []event, all Snapshot, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range sectionNames {
		if s := h.sections[name]; s.version > sent[name] {
			sent[name] = s.version
			news = append(news, event{name, s.text})
		}
	}
	return news, h.snapshot, h.changed
}

// event is an event of a stream.
type event struct {
	name string
	data []byte
}

// maxStreams bounds the open pages.
const maxStreams = 64

// enter counts a stream, unless there are too many.
func (h *hub) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open >= maxStreams {
		return false
	}
	h.open++
	return true
}

func (h *hub) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open--
}

func (h *hub) streams() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}
