package crash

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages"
)

// inputs is how many inputs the plans draw from. Few, as each costs an uninterrupted run.
const inputs = 4

// reference is an input and what an undisturbed pipeline makes of it.
type reference struct {
	input *Input
	sets  []*wire.FeatureSet // by sequence number, from 1
}

var (
	referenceMu sync.Mutex
	references  = map[string]*reference{}
)

// referenceOf runs the pipeline over an input in memory, in one process, once.
func referenceOf(ctx context.Context, inputSeed uint64, criterion string) (*reference, error) {
	referenceMu.Lock()
	defer referenceMu.Unlock()
	key := fmt.Sprint(inputSeed, criterion)
	if found, ok := references[key]; ok {
		return found, nil
	}
	input, err := NewInput(inputSeed)
	if err != nil {
		return nil, err
	}
	sets, err := undisturbed(ctx, input, criterion)
	if err != nil {
		return nil, fmt.Errorf("undisturbed run of input %d: %w", inputSeed, err)
	}
	references[key] = &reference{input, sets}
	return references[key], nil
}

func undisturbed(ctx context.Context, input *Input, criterion string) ([]*wire.FeatureSet, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	loaded, err := load(keys("reference", criterion, quickTiming, []string{"127.0.0.1:1"}))
	if err != nil {
		return nil, err
	}
	broker := pipelinetest.NewBroker()
	topics := loaded.Stages.Topics
	if _, err := stages.CreateTopics(ctx, broker, topics); err != nil {
		return nil, err
	}
	for partition := range partitions {
		for _, m := range input.All(partition) {
			if _, err := broker.Produce(ctx, topics.Events, partition, []pipeline.Record{{Value: m.Value}}); err != nil {
				return nil, err
			}
		}
	}
	runtime := stages.NewRuntime(broker, loaded.Stages, zap.NewNop())
	runtime.DrainTimeout = time.Second
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- stages.Run(running, runtime, []string{stages.StageCalibrate, stages.StageSubsample, stages.StageSelect}, false)
	}()
	state, err := runtime.Watch.Wait(running, func(s stages.State) bool {
		set := s.CurrentSet()
		return set != nil && s.Running() == nil && leftAfter(input, set.Set) < everyOffsets
	})
	stop()
	if err = errors.Join(err, <-ended); err != nil {
		return nil, err
	}
	return chain(input, state)
}

// leftAfter is how many offsets of the whole input lie behind what a set was made from.
func leftAfter(input *Input, set *wire.FeatureSet) (left int64) {
	for _, part := range set.Lineage.Partitions {
		left += int64(len(input.All(int(part.Partition)))) - part.NextOffset
	}
	return left
}

// chain lists the sets by sequence number. It refuses an input where the number of explorations would depend on when the
// tail is sent.
func chain(input *Input, state stages.State) ([]*wire.FeatureSet, error) {
	sets := make([]*wire.FeatureSet, len(state.Sets))
	for _, set := range state.Sets {
		sets[set.Set.Lineage.Sequence-1] = set.Set
	}
	const tail = partitions * tailMessages
	for i, set := range sets {
		left := leftAfter(input, set)
		if last := i == len(sets)-1; !last && left-tail < everyOffsets || last && left >= everyOffsets {
			return nil, fmt.Errorf("%d offsets are left after exploration %d of %d", left, i+1, len(sets))
		}
	}
	if len(sets) < 2 {
		return nil, fmt.Errorf("%d explorations, want two or more", len(sets))
	}
	return sets, nil
}
