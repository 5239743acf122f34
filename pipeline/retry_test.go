package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

func TestRetryUntilItSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, tries := time.Now(), 0
		got, err := pipeline.Retry(t.Context(), zap.NewNop(), "try", func() (string, error) {
			if tries++; tries < 60 {
				return "", errAway
			}
			return "there", nil
		})
		if err != nil || got != "there" || tries != 60 {
			t.Fatalf("%q, %v after %d tries", got, err, tries)
		}
		// The 59 waits grow from 0.1 s to at most 15 s, each with a jitter of one half.
		if took := time.Since(began); took < 59*7500*time.Millisecond/2 || took > 59*23*time.Second {
			t.Fatalf("60 tries took %v", took)
		}
	})
}

func TestRetryStopsAtPermanentErrors(t *testing.T) {
	tries := 0
	err := pipeline.Try(t.Context(), zap.NewNop(), "try", func() error {
		tries++
		return fmt.Errorf("attempt %d: %w", tries, pipeline.Permanent(errFault))
	})
	if tries != 1 || !errors.Is(err, errFault) || !pipeline.IsPermanent(err) {
		t.Fatalf("%v after %d tries", err, tries)
	}
}

func TestRetryReturnsTheErrorBeforeTheEndOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		tries := 0
		err := pipeline.Try(ctx, zap.NewNop(), "try", func() error {
			if tries++; tries < 3 {
				return errAway
			}
			<-ctx.Done()
			return fmt.Errorf("dial: %w", ctx.Err())
		})
		if !errors.Is(err, errAway) || tries != 3 {
			t.Fatalf("%v after %d tries: the interrupted try hides the earlier error", err, tries)
		}
	})
}
