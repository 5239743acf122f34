package events

import (
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/outside"
)

// Outside lists the headers of events that describe their values.
func Outside() []outside.Source {
	const guidHeader = 17 // a version byte and a GUID
	return []outside.Source{{
		Name:   "headers of events",
		Where:  "`events`",
		Writer: "producers; `dead-letters replay`",
		Beyond: "another schema header is ignored; the mark of replayed rows counts by its presence, and a value " +
			"that is no Arrow stream becomes a dead letter",
		Values: []outside.Value{
			{Name: formats.SchemaHeader, Shape: outside.TextOf(guidHeader)},
			{Name: wire.HeaderReplayedRows, Shape: outside.TextOf(outside.MaxWord)},
		},
	}}
}
