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
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/serve"
)

// Headers that name the columns in which values were imputed, or categories were not known; escaped as in a URL.
const (
	headerImputed = "Eerf-Imputed"
	headerUnseen  = "Eerf-Unseen"
)

// badRows is the reason for refusing rows that lack something or have something that nobody knows.
const badRows = "bad_rows"

// allowsMissing says whether values that the explored rows always had may be missing.
func (c *call) allowsMissing() (bool, error) {
	said := cmp.Or(c.r.URL.Query().Get("missing"), c.config.Missing)
	if !slices.Contains(serve.MissingRules(), said) {
		return false, faultf(http.StatusBadRequest, meter.Invalid, "missing", "missing=%.40q: want %s", said, strings.Join(serve.MissingRules(), " or "))
	}
	return said == serve.MissingAllow, nil
}

// checkJSON refuses rows of JSON that lack a column, or have one that is unknown or of another kind.
func (c *call) checkJSON() error {
	allow, err := c.allowsMissing()
	if err != nil {
		return err
	}
	return refuseRows(c.slot.Check(c.buffers.body, allow))
}

// refuseRows is the fault of a request with these; nil for none.
func refuseRows(faults []formats.RowFault) error {
	if len(faults) == 0 {
		return nil
	}
	first := faults[0]
	f := faultf(http.StatusUnprocessableEntity, meter.Invalid, badRows, "row %d: column %.100q is %s; rows lists all faults", first.Row, first.Column, first.Fault)
	f.rows = faults
	return f
}

// remarks are the values of a request that were imputed or are unseen categories, by row of the request.
type remarks []encoder.Remark

// remarksOn returns the remarks on batches that were mapped, and refuses missing values that the explored rows always had.
func (c *call) remarksOn(batches []arrow.Record, counts encoder.Counts) (remarks, error) {
	if counts.Imputed == 0 && counts.UnseenCategory == 0 {
		return nil, nil
	}
	allow, err := c.allowsMissing()
	if err != nil {
		return nil, err
	}
	var all remarks
	var faults []formats.RowFault
	before := 0
	for _, batch := range batches {
		for _, r := range c.slot.Pair().Encoder().Remarks(batch) {
			r.Row += before
			if all = append(all, r); !r.Expected && !allow {
				faults = append(faults, formats.RowFault{Row: r.Row, Column: r.Column, Fault: "null, which no explored row was"})
			}
		}
		before += int(batch.NumRows())
	}
	return all, refuseRows(faults)
}

// columns names the columns of the remarks in which values were imputed, or else categories unseen.
func (all remarks) columns(unseen bool) []string {
	var names []string
	for _, r := range all {
		if (r.Unseen != nil) == unseen && !slices.Contains(names, r.Column) {
			names = append(names, r.Column)
		}
	}
	return names
}

// remarkBytes bounds the list of remarks in an answer.
const remarkBytes = 8 << 10

// append writes the remarks as two lists of an answer in JSON, as far as there is room for them.
func (all remarks) append(dst []byte) []byte {
	end := len(dst) + remarkBytes
	for _, unseen := range []bool{false, true} {
		name, open := "imputed", false
		if unseen {
			name = "unseen"
		}
		for _, r := range all {
			if (r.Unseen != nil) != unseen || len(dst) > end {
				continue
			}
			if !open {
				dst = append(dst, ',', '"')
				dst = append(dst, name...)
				dst, open = append(dst, `":[`...), true
			} else {
				dst = append(dst, ',')
			}
			dst = append(dst, `{"row":`...)
			dst = strconv.AppendInt(dst, int64(r.Row), 10)
			dst = append(dst, `,"column":`...)
			dst = tensors.AppendText(dst, r.Column)
			if unseen {
				dst = append(dst, `,"value":`...)
				dst = tensors.AppendText(dst, fmt.Sprintf("%.256s", *r.Unseen))
			}
			dst = append(dst, '}')
		}
		if open {
			dst = append(dst, ']')
		}
	}
	return dst
}

// name sets the headers that name the columns.
func (all remarks) name(header http.Header) {
	for key, unseen := range map[string]bool{headerImputed: false, headerUnseen: true} {
		if columns := all.columns(unseen); len(columns) > 0 {
			for i, column := range columns {
				columns[i] = url.QueryEscape(column)
			}
			header[key] = []string{fmt.Sprintf("%.4096s", strings.Join(columns, ", "))}
		}
	}
}
