package serve

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/tensors"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/serve"
)

// Headers that name the columns with imputed values or unknown categories; escaped as in a URL.
const (
	headerImputed = "Eerf-Imputed"
	headerUnseen  = "Eerf-Unseen"
)

// badRows is the reason for refusing rows with missing, unknown or wrong columns.
const badRows = "bad_rows"

// readQuery reads whether values may be missing that the explored rows always had.
func (c *call) readQuery() error {
	c.allowMissing = c.config.Missing == serve.MissingAllow
	if c.r.URL.RawQuery == "" {
		return nil
	}
	query := c.r.URL.Query()
	for name := range query {
		if name != "missing" {
			return faultf(http.StatusBadRequest, meter.Invalid, "parameter",
				"parameter %.40q is unknown; the only parameter is missing, which is %s",
				name, strings.Join(serve.MissingRules(), " or "))
		}
	}
	said := cmp.Or(query.Get("missing"), c.config.Missing)
	if !slices.Contains(serve.MissingRules(), said) {
		return faultf(http.StatusBadRequest, meter.Invalid, "missing", "missing=%.40q: want %s",
			said, strings.Join(serve.MissingRules(), " or "))
	}
	c.allowMissing = said == serve.MissingAllow
	return nil
}

// refuseRows returns the fault of a request with these row faults; nil for none.
func refuseRows(faults []formats.RowFault) error {
	if len(faults) == 0 {
		return nil
	}
	first := faults[0]
	hint := ""
	if slices.ContainsFunc(faults, formats.RowFault.Missing) {
		hint = "; ?missing=allow imputes missing values"
	}
	f := faultf(http.StatusUnprocessableEntity, meter.Invalid, badRows,
		"row %d: column %.100q is %s; rows lists all faults%s", first.Row, first.Column, first.Fault, hint)
	f.rows = faults
	return f
}

// remarksOn returns the remarks on mapped batches. It refuses missing values that the explored rows
// always had.
func (c *call) remarksOn(batches []arrow.Record, counts encoder.Counts) (all encoder.Remarks, err error) {
	if counts.Imputed == 0 && counts.UnseenCategory == 0 {
		return all, nil
	}
	enc, before := c.slot.Pair().Encoder(), 0
	for _, batch := range batches {
		_ = events.EachChunk(batch, enc.Dim, func(first int64, chunk arrow.Record) error {
			all.Add(enc, chunk, before+int(first))
			return nil
		})
		before += int(batch.NumRows())
	}
	if c.allowMissing {
		return all, nil
	}
	var faults []formats.RowFault
	for _, r := range all.Unexpected.Remarks {
		faults = append(faults, formats.RowFault{Row: r.Row, Column: r.Column, Fault: formats.FaultNull})
	}
	return all, refuseRows(faults)
}

// remarkBytes bounds the list of remarks in an answer.
const remarkBytes = 8 << 10

// appendRemarks writes the remarks as two lists of a JSON answer, as far as they fit.
func appendRemarks(dst []byte, all *encoder.Remarks) []byte {
	end := len(dst) + remarkBytes
	for _, l := range []struct {
		name string
		encoder.RemarkList
	}{{"imputed", all.Imputed}, {"unseen", all.Unseen}} {
		open := false
		for _, r := range l.Remarks {
			if len(dst) > end {
				break
			}
			if !open {
				dst = append(dst, ',', '"')
				dst = append(dst, l.name...)
				dst, open = append(dst, `":[`...), true
			} else {
				dst = append(dst, ',')
			}
			dst = append(dst, `{"row":`...)
			dst = strconv.AppendInt(dst, int64(r.Row), 10)
			dst = append(dst, `,"column":`...)
			dst = tensors.AppendText(dst, r.Column)
			if l.name == "unseen" {
				dst = append(dst, `,"value":`...)
				dst = tensors.AppendText(dst, fmt.Sprintf("%.256s", r.Unseen))
			}
			dst = append(dst, '}')
		}
		if open {
			dst = append(dst, ']')
		}
	}
	return dst
}

// nameRemarks sets the headers that name the columns of remarks.
func nameRemarks(header http.Header, all *encoder.Remarks) {
	nameColumns(header, headerImputed, all.Imputed.Columns)
	nameColumns(header, headerUnseen, all.Unseen.Columns)
}

func nameColumns(header http.Header, key string, columns []string) {
	if len(columns) == 0 {
		return
	}
	escaped := make([]string, len(columns))
	for i, column := range columns {
		escaped[i] = url.QueryEscape(column)
	}
	header[key] = []string{fmt.Sprintf("%.4096s", strings.Join(escaped, ", "))}
}
