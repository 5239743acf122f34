package formats

import (
	"encoding/binary"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// schemas is a registry of fixed schemas.
type schemas map[uint32]*Schema

func (s schemas) Schema(id SchemaID) (*Schema, error) {
	if found := s[id.Number]; found != nil {
		return found, nil
	}
	return nil, arrowio.Wrap(ErrUnknownSchema, "schema %s", id)
}

// rows renders the one record of a message, row by row; "" is an error.
func rows(t testing.TB, d *Decoder, value []byte) (names, types []string, cells [][]string, err error) {
	t.Helper()
	recs, err := d.Decode(value)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, rec := range recs {
		defer rec.Release()
		names, types, cells = render(rec)
	}
	return names, types, cells, nil
}

func render(rec arrow.Record) (names, types []string, cells [][]string) {
	for i, f := range rec.Schema().Fields() {
		names, types = append(names, f.Name), append(types, f.Type.String())
		for row := range int(rec.NumRows()) {
			if len(cells) <= row {
				cells = append(cells, nil)
			}
			cells[row] = append(cells[row], rec.Column(i).ValueStr(row))
		}
	}
	return names, types, cells
}

func framed(id uint32, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, id), body...)
}

var small = arrowio.Limits{MaxMessageBytes: 1 << 20, BudgetBytes: 1 << 20, MaxRows: 1000, MaxColumns: 100}
