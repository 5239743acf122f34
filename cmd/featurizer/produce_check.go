package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/state"
)

// checkRows refuses rows that would become dead letters or stay unlabelled, before the first row is
// sent. It looks for label and feature columns that the configuration names, or that the current
// feature set or the running first exploration reads.
func (f *produceFlags) checkRows(ctx context.Context, r *stages.Process, schema *arrow.Schema) error {
	if f.force {
		return nil
	}
	enc, of, err := f.readers(ctx, r)
	if err != nil {
		return err
	}
	faults := missingColumns(schema, r.Settings.Events.Features)
	if enc != nil {
		faults = slices.Concat(faults, enc.Faults(schema))
	}
	if r.Settings.Featurize.SetsFrom == "" { // rows to predict from have no label
		faults = slices.Concat(faults, missingLabels(schema, enc, r.Settings.Events.Label))
	}
	if len(faults) == 0 {
		return nil
	}
	slices.Sort(faults)
	text := fmt.Sprintf("%s does not fit %s: %s", f.data, of, strings.Join(slices.Compact(faults), "; "))
	return errors.New(text + "; nothing was sent (--force sends the rows as they are)")
}

// readers returns the current encoder of events, nil if there is none yet, and where it comes from.
// If the control topics are missing or unreadable, only the configuration counts.
func (f *produceFlags) readers(ctx context.Context, r *stages.Process) (enc *encoder.Encoder, of string, err error) {
	of = "the configuration of pipeline " + r.Settings.Pipeline.Name
	err = cli.WithTimeout(ctx, f.timeout, func(ctx context.Context) error {
		return cli.ReadState(ctx, r, func(_ context.Context, r *stages.Process, now state.Snapshot) error {
			switch set, running := now.CurrentSet(), now.Running(); {
			case set != nil:
				enc = set.Set.Encoder
				of = fmt.Sprintf("feature set %s of pipeline %s", set.ID, r.Settings.Pipeline.Name)
			case running != nil:
				enc = running.Encoder
				of = "exploration " + running.Exploration
			}
			return nil
		}, state.TopicExplorations, state.TopicFeatureSets)
	})
	if errors.Is(err, pipeline.ErrUnknownTopic) || errors.Is(err, pipeline.ErrDenied) {
		r.Env.Logger.Info("cannot read the control topics; comparing the columns with the configuration only", zap.Error(err))
		return nil, of, nil
	}
	return enc, of, err
}

// missingColumns names the configured feature columns that a file lacks.
func missingColumns(schema *arrow.Schema, features []string) (faults []string) {
	for _, name := range features {
		if !schema.HasField(name) {
			faults = append(faults, fmt.Sprintf("column %q is missing", name))
		}
	}
	return faults
}

// missingLabels names the label columns, configured or of the encoder, that a file lacks.
func missingLabels(schema *arrow.Schema, enc *encoder.Encoder, configured []string) (faults []string) {
	names := slices.Clone(configured)
	if enc != nil && enc.Label != nil {
		names = append(names, enc.Label.Columns...)
	}
	for _, name := range names {
		if !schema.HasField(name) {
			faults = append(faults, fmt.Sprintf("label column %q is missing", name))
		}
	}
	return faults
}
