package registry

import (
	"math"

	"github.com/eerf-stream/eerf/internal/outside"
)

// Outside lists the values that a schema registry answers with.
func Outside() []outside.Source {
	return []outside.Source{{
		Name:   "answers of the schema registry",
		Where:  "`GET /schemas/ids/<id>` and the references of the schema",
		Writer: "the registry",
		Beyond: "the schema is unknown, also if the answer cannot be read; its messages become dead letters `unknown_schema`",
		Values: []outside.Value{
			{Name: "id, from a message", Shape: outside.WholeOf(math.MaxInt32)},
			{Name: "bytes of a schema with its references", Shape: outside.TextOf(FetchBytes)},
			{Name: "references", Shape: &outside.Shape{Kind: outside.List, Most: maxReferences}},
			{Name: "bytes of an error page", Shape: outside.TextOf(maxErrorPage)},
		},
	}}
}
