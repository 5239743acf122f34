package serve

import (
	"strconv"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/tensors"
	"github.com/eerf-stream/eerf/stages/featurize"
)

// appendRows writes the results as a JSON list with one element per given row, in order; null for
// unusable rows.
func appendRows(dst []byte, pair *featurize.Pair, made *featurize.Mapped, on *encoder.Remarks, features bool) []byte {
	dst = append(dst, `{"feature_set":`...)
	dst = tensors.AppendText(dst, pair.SetID())
	if pair.Model != nil {
		dst = append(dst, `,"model":`...)
		dst = tensors.AppendText(dst, pair.ModelID())
	}
	if features {
		dst = append(dst, `,"features":`...)
		dst = appendLists(dst, made, made.Features, pair.Features())
	} else {
		dst = appendPredictions(dst, pair, made)
	}
	if len(made.Rejected) > 0 {
		dst = appendRejected(dst, made)
	}
	return append(appendRemarks(dst, on), '}')
}

func appendPredictions(dst []byte, pair *featurize.Pair, made *featurize.Mapped) []byte {
	dst = append(dst, `,"predictions":`...)
	classes := pair.Classes()
	switch {
	case classes != nil:
		dst = eachRow(dst, made, func(dst []byte, i int) []byte { return tensors.AppendText(dst, classes[made.Class[i]]) })
	case pair.Outputs() == 1:
		dst = eachRow(dst, made, func(dst []byte, i int) []byte { return tensors.AppendNumber(dst, made.Prediction[i]) })
	default:
		dst = appendLists(dst, made, made.Prediction, pair.Outputs())
	}
	if !pair.Probabilities() {
		return dst
	}
	dst = append(dst, `,"classes":[`...)
	for i, name := range classes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = tensors.AppendText(dst, name)
	}
	dst = append(dst, `],"probabilities":`...)
	return appendLists(dst, made, made.Probabilities, len(classes))
}

// appendLists writes width numbers for each row.
func appendLists[T float32 | float64](dst []byte, made *featurize.Mapped, values []T, width int) []byte {
	return eachRow(dst, made, func(dst []byte, i int) []byte {
		dst = append(dst, '[')
		for j, v := range values[i*width : (i+1)*width] {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = tensors.AppendNumber(dst, v)
		}
		return append(dst, ']')
	})
}

// eachRow writes a list of all rows. write writes usable row i of made.
func eachRow(dst []byte, made *featurize.Mapped, write func(dst []byte, i int) []byte) []byte {
	dst = append(dst, '[')
	next := 0 // index into made.Row
	for row := range made.Total {
		if row > 0 {
			dst = append(dst, ',')
		}
		if next < len(made.Row) && int(made.Row[next]) == row {
			dst = write(dst, next)
			next++
			continue
		}
		dst = append(dst, "null"...)
	}
	return append(dst, ']')
}

func appendRejected(dst []byte, made *featurize.Mapped) []byte {
	dst = append(dst, `,"rejected":[`...)
	for i, r := range made.Rejected {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"row":`...)
		dst = strconv.AppendInt(dst, int64(r.Row), 10)
		dst = append(dst, `,"reason":`...)
		dst = tensors.AppendText(dst, r.Reason)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
