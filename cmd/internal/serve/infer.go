package serve

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/tensors"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
)

// headerLength is the header with the length of a body's JSON if binary values follow it.
const headerLength = "Inference-Header-Content-Length"

// infer answers tensors with tensors. One unusable row fails the request, because tensors cannot
// mark a row.
func (c *call) infer() (string, error) {
	pair := c.slot.Pair()
	if err := c.checkModel(pair, c.r.PathValue("name"), c.r.PathValue("version")); err != nil {
		return "", err
	}
	header, err := c.headerLength()
	if err != nil {
		return "", err
	}
	request, err := c.slot.Tensors(c.buffers.body, header)
	if err != nil {
		return "", err
	}
	defer request.Rows.Release()
	outputs, err := wantedOutputs(pair, request)
	if err != nil {
		return "", err
	}
	asked := func(name string) bool {
		return slices.ContainsFunc(outputs, func(o tensors.Tensor) bool { return o.Name == name })
	}
	features, spread := asked(wire.ColumnFeatures), asked(wire.ColumnSpread)
	made, err := c.mapRows([]arrow.Record{request.Rows}, features, spread, sizesOf(pair, features, spread), true)
	if err != nil {
		return "", asTensorsFault(err)
	}
	if len(made.Rejected) > 0 {
		first := made.Rejected[0]
		return "", faultf(http.StatusBadRequest, meter.Invalid, first.Reason, "row %d is unusable: %s (%d of %d rows are)",
			first.Row, first.Reason, len(made.Rejected), made.Total)
	}
	answer := tensors.Answer{Model: c.Model, Version: versionOf(pair), ID: request.ID, FeatureSet: pair.SetID(),
		Tensors: outputs,
		Imputed: c.remarks.Imputed.Columns, Unseen: c.remarks.Unseen.Columns}
	return c.sendTensors(pair, &answer, made), nil
}

// asTensorsFault gives bad rows the status that the protocol defines for them.
func asTensorsFault(err error) error {
	if f := (*fault)(nil); errors.As(err, &f) && f.reason == badRows {
		f.code = http.StatusBadRequest
	}
	return err
}

// sendTensors fills the outputs and encodes the answer.
func (c *call) sendTensors(pair *featurize.Pair, answer *tensors.Answer, made *featurize.Mapped) (contentType string) {
	binary := false
	for i := range answer.Tensors {
		fill(&answer.Tensors[i], pair, made)
		binary = binary || answer.Tensors[i].Binary
	}
	body, length := answer.Append(c.buffers.answer[:0])
	c.buffers.answer = body
	if !binary {
		return typeJSON
	}
	c.w.Header()[headerLength] = []string{strconv.Itoa(length)}
	return typeBytes
}

// headerLength returns the length of the body's JSON.
func (c *call) headerLength() (int, error) {
	said := c.r.Header.Get(headerLength)
	accepted := []string{typeJSON}
	if said != "" {
		accepted = append(accepted, typeBytes)
	}
	if c.r.Header.Get("Content-Type") != "" { // Triton's clients send none
		if _, err := bodyType(c.r, accepted...); err != nil {
			return 0, err
		}
	}
	if said == "" {
		return len(c.buffers.body), nil
	}
	length, err := strconv.Atoi(said)
	if err != nil || length < 0 || length > len(c.buffers.body) {
		return 0, faultf(http.StatusBadRequest, meter.Invalid, tensors.Reason,
			"%s is %.100q, but the body has %d bytes", headerLength, said, len(c.buffers.body))
	}
	return length, nil
}

// outputsOf lists the outputs of a pair, without values: predictions first, then those that are only
// sent if named.
func outputsOf(pair *featurize.Pair) []tensors.Tensor {
	var outputs []tensors.Tensor
	if classes := pair.Classes(); classes != nil {
		names := outputOf(wire.ColumnPrediction, tensors.DatatypeBytes, 1)
		names.Texts = classes
		outputs = append(outputs, names)
		if pair.Probabilities() {
			outputs = append(outputs, outputOf(wire.ColumnProbabilities, tensors.DatatypeFloat32, len(classes)))
		}
	} else if pair.Model != nil {
		outputs = append(outputs, outputOf(wire.ColumnPrediction, tensors.DatatypeFloat64, pair.Outputs()))
	}
	outputs = append(outputs, outputOf(wire.ColumnFeatures, tensors.DatatypeFloat32, pair.Features()))
	if width := pair.SpreadWidth(); width > 0 {
		outputs = append(outputs, outputOf(wire.ColumnSpread, tensors.DatatypeFloat64, width))
	}
	return outputs
}

// outputOf describes an output without its values.
func outputOf(name, datatype string, width int) tensors.Tensor {
	return tensors.Tensor{Name: name, Datatype: datatype, Width: width}
}

// wantedOutputs returns the outputs that a request names; by default all predictions or, if there
// are none, the features.
func wantedOutputs(pair *featurize.Pair, request *tensors.Request) ([]tensors.Tensor, error) {
	all := outputsOf(pair)
	if len(request.Outputs) == 0 {
		wanted := all
		if at := slices.IndexFunc(all, func(o tensors.Tensor) bool { return o.Name == wire.ColumnFeatures }); at > 0 {
			wanted = all[:at]
		}
		for i := range wanted {
			wanted[i].Binary = request.Binary
		}
		return wanted, nil
	}
	var wanted []tensors.Tensor
	for _, asked := range request.Outputs {
		at := slices.IndexFunc(all, func(o tensors.Tensor) bool { return o.Name == asked.Name })
		if at < 0 || slices.ContainsFunc(wanted, func(o tensors.Tensor) bool { return o.Name == asked.Name }) {
			return nil, faultf(http.StatusBadRequest, meter.Invalid, tensors.Reason,
				"output %.100q does not exist or is requested twice", asked.Name)
		}
		one := all[at]
		one.Binary = request.Binary
		if asked.Binary != nil {
			one.Binary = *asked.Binary
		}
		wanted = append(wanted, one)
	}
	return wanted, nil
}

// fill fills an output with its values.
func fill(t *tensors.Tensor, pair *featurize.Pair, made *featurize.Mapped) {
	t.Rows = len(made.Row)
	switch t.Name {
	case wire.ColumnFeatures:
		t.Numbers = made.Features
	case wire.ColumnProbabilities:
		t.Numbers = made.Probabilities
	case wire.ColumnSpread:
		t.Doubles = made.Spread
	default:
		t.Number = made.Class
		if pair.Classes() == nil {
			t.Number = nil
			t.Doubles = made.Prediction
		}
	}
}
