package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// planOf is the plan of a process with the defaults, changed by edit.
func planOf(t *testing.T, names []meter.Stage, edit func(*Config)) MemoryPlan {
	t.Helper()
	c := Default()
	c.Memory.Messages = 4 // as with two processors
	edit(c)
	plan, _ := c.CheckMemory(names) // the test decides whether it fits
	return plan
}

// A worker of one stage fits 200 partitions in 2 GiB with the defaults and one output. Training is
// excluded, because it keeps sums and held-out rows of each partition.
func TestWorkerFits200PartitionsIn2GiB(t *testing.T) {
	for _, stage := range []meter.Stage{
		meter.StageCalibrate,
		meter.StageSubsample,
		meter.StageSelection,
		meter.StageFeaturize,
	} {
		plan := planOf(t, []meter.Stage{stage}, func(c *Config) {
			c.Stages.Topics.Partitions, c.Memory.Limit = 200, 2<<30
			c.Stages.Events.MaxClasses = 2
		})
		if over := plan.Over(); over != "" {
			t.Errorf("%s: %s", stage, over)
		}
	}
}

// With one output partitions add little, because fetched, processed and produced data are bounded
// for all of them together.
func TestNeedsGrowLittleWithPartitions(t *testing.T) {
	at := func(stage meter.Stage, partitions int) int64 {
		return planOf(t, []meter.Stage{stage}, func(c *Config) {
			c.Stages.Topics.Partitions = partitions
			c.Stages.Events.MaxClasses = 2
		}).Bytes
	}
	for stage, most := range map[meter.Stage]int64{meter.StageSubsample: 2 << 20, meter.StageFeaturize: 1 << 20,
		meter.StageSelection: 1 << 20, meter.StageCalibrate: 4 << 20} {
		for _, n := range []int{24, 200, 1000} {
			if each := (at(stage, 2*n) - at(stage, n)) / int64(n); each > most {
				t.Errorf("%s: %d bytes per partition beyond %d", stage, each, n)
			}
		}
	}
}

// Sets kept by age are not in memory: the schedule of explorations does not matter. Models add a
// little each.
func TestStoredSetsCostNoMemory(t *testing.T) {
	const age = 30 * 24 * time.Hour
	plan := func(edit func(*Config)) int64 {
		return planOf(t, []meter.Stage{meter.StageFeaturize}, func(c *Config) {
			c.Stages.Topics.FeaturesRetention = age
			edit(c)
		}).Bytes
	}
	plain := plan(func(*Config) {})
	if often := plan(func(c *Config) {
		c.Stages.Exploration.Every, c.Stages.Topics.KeepFeatureSets = time.Hour,
			1000
	}); often != plain {
		t.Errorf("%d bytes, %d with hourly explorations", plain, often)
	}
	every := Default().Stages.Train.Interval
	if rare := plan(func(c *Config) { c.Stages.Train.Interval = age }); plain-rare != int64(age/every-1)*state.ModelBytes {
		t.Errorf("%d bytes, %d with a model in %v", plain, rare, age)
	}
}

func TestMemoryPlanNamesKeys(t *testing.T) {
	plan := planOf(
		t,
		[]meter.Stage{meter.StageSubsample, meter.StageFeaturize},
		func(c *Config) { c.Memory.Limit = 512 << 20 },
	)
	over := plan.Over()
	for _, key := range []string{"kafka.fetch_memory", "memory.messages", "exploration.candidate_memory"} {
		if !strings.Contains(over, key) {
			t.Errorf("%q does not name %s", over, key)
		}
	}
	if more := planOf(t, []meter.Stage{meter.StageFeaturize}, func(c *Config) { c.Memory.Messages = 5 }).
		Bytes - planOf(t, []meter.Stage{meter.StageFeaturize}, func(*Config) {}).Bytes; more < 96<<20 {
		t.Error(fmt.Sprint("one more message takes ", more))
	}
}

// A memory limit that does not hold the sums of as many classes as may be learned is refused, with
// the key that bounds them.
func TestMemoryLimitCountsOpenClasses(t *testing.T) {
	check := func(most int) error {
		c := Default()
		c.Stages.Topics.Partitions, c.Memory.Messages, c.Memory.Limit = 64, 2, 2<<30
		c.Stages.Events.Label, c.Stages.Events.MaxClasses = []string{"y"}, most
		_, err := c.CheckMemory([]meter.Stage{meter.StageSubsample})
		return err
	}
	if err := check(2); err != nil {
		t.Error(err)
	}
	err := check(90)
	for _, want := range []string{"subsample: sums and checkpoints", "events.max_classes", "up to 90 classes"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not contain %q", err, want)
		}
	}
}
