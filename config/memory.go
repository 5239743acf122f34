package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/internal/memlimit"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages"
)

// minMemoryLimit is less than which a process has no room for a single message of the default size.
const minMemoryLimit = 128 << 20

// MemoryPlan is what a process takes at the worst beside what it may take.
type MemoryPlan struct {
	Stages     []string            `json:"stages"`
	Partitions int                 `json:"partitions"`
	Needs      []stages.MemoryNeed `json:"needs"`
	Bytes      int64               `json:"bytes"` // of all needs
	Limit      int64               `json:"limit"` // 0 = none
	Soft       int64               `json:"soft_limit"`
	Source     string              `json:"source"` // of the limit
	Assumes    string              `json:"assumes,omitempty"`
}

// PlanMemory adds up what a process that runs the stages may need, and finds its limit.
func (c *Config) PlanMemory(names []string) (MemoryPlan, error) {
	limit, err := memlimit.Find(c.Memory.Limit)
	outputs, assumedK := c.outputs()
	load := stages.MemoryLoad{
		Stages: names, Partitions: cmp.Or(c.Memory.Partitions, c.Stages.Topics.Partitions),
		FetchBytes: c.fetchBytes(), Outputs: outputs,
	}
	plan := MemoryPlan{
		Stages: names, Partitions: load.Partitions, Needs: c.Stages.MemoryNeeds(load),
		Limit: limit.Bytes, Soft: limit.Soft(), Source: limit.Source, Assumes: assumedK,
	}
	for _, need := range plan.Needs {
		plan.Bytes += need.Bytes
	}
	return plan, err
}

// fetchBytes is what the answer to one fetch takes: the batches as they come, of which the first is as large as the broker
// stores it, and decompressed.
func (c *Config) fetchBytes() int64 {
	defaults := kafka.DefaultConfig()
	stored := max(int64(cmp.Or(c.Kafka.FetchMaxBytes, defaults.FetchMaxBytes)), c.Stages.Topics.MaxMessageBytes)
	budget := int64(cmp.Or(c.Kafka.BatchBudgetBytes, defaults.BatchBudgetBytes))
	return budget + min(stored, budget)
}

// Over says that the needs are more than the limit leaves to them, and what to change; empty where they fit, or nothing
// limits them.
func (p MemoryPlan) Over() string {
	if p.Limit == 0 || p.Bytes <= p.Soft {
		return ""
	}
	needs := slices.Clone(p.Needs)
	slices.SortStableFunc(needs, func(a, b stages.MemoryNeed) int { return cmp.Compare(b.Bytes, a.Bytes) })
	var largest, keys []string
	for _, need := range needs[:min(3, len(needs))] {
		largest = append(largest, fmt.Sprintf("%s %d", need.What, need.Bytes))
		for _, key := range need.Keys {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	text := fmt.Sprintf("stages %s with %d partitions may need %d bytes, of %d (%s) they may use %d; the most is for %s; what would help: a smaller %s",
		strings.Join(p.Stages, ", "), p.Partitions, p.Bytes, p.Limit, p.Source, p.Soft, strings.Join(largest, ", "), strings.Join(keys, ", "))
	if p.Assumes != "" {
		text += "; counted with " + p.Assumes
	}
	return text
}

// CheckMemory is the plan of a process that runs the stages, and a [Faults] if it does not fit the configured limit. A limit
// that is not configured here refuses nothing: see [MemoryPlan.Over].
func (c *Config) CheckMemory(names []string) (MemoryPlan, error) {
	plan, err := c.PlanMemory(names)
	if err != nil {
		return plan, err
	}
	if over := plan.Over(); over != "" && c.Memory.Limit > 0 {
		k := newChecker(c, nil)
		return plan, Faults{k.fault("memory.limit", "too small: "+over)}
	}
	return plan, nil
}
