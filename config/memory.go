package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/internal/bytesize"
	"github.com/eerf-stream/eerf/internal/memlimit"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// MemoryPlan compares the worst-case memory need of a process with its limit.
type MemoryPlan struct {
	Stages     []string            `json:"stages"`
	Partitions int                 `json:"partitions"`
	Needs      []stages.MemoryNeed `json:"needs"`
	Bytes      int64               `json:"bytes"` // sum of all needs
	Limit      int64               `json:"limit"` // 0 = none
	Soft       int64               `json:"soft_limit"`
	Source     string              `json:"source"` // of the limit
	Assumes    string              `json:"assumes,omitempty"`
}

// Partitions returns the most partitions of events that one process should own.
func (c *Config) Partitions() int { return cmp.Or(c.Memory.Partitions, c.Stages.Topics.Partitions) }

// Messages returns how many messages a process works on at a time.
func (c *Config) Messages() int { return cmp.Or(c.Memory.Messages, stages.DefaultMessages()) }

// CheckMemory adds up the needs of a process that runs the stages, and finds its limit. It returns
// [Faults] if the limit is configured and too small. A limit that is not configured here is not
// enforced: see [MemoryPlan.Over].
func (c *Config) CheckMemory(names []meter.Stage) (MemoryPlan, error) {
	limit, err := memlimit.Find(c.Memory.Limit)
	load := stages.MemoryLoad{
		Stages: names, Partitions: c.Partitions(), Messages: c.Messages(), FetchBytes: c.Kafka.FetchBytes(),
		Schemas: len(c.Registry.URL) > 0 || c.Stages.Events.Schema != "",
	}
	plan := MemoryPlan{
		Stages: stages.Texts(names), Partitions: load.Partitions, Needs: c.Stages.MemoryNeeds(load),
		Limit: limit.Bytes, Soft: limit.Soft(), Source: limit.Source, Assumes: c.assumedClasses(),
	}
	return c.checked(plan, err)
}

// CheckServing is [Config.CheckMemory] for a process that serves rows. It follows feature sets and
// models, unless they are files, and owns no partition.
func (c *Config) CheckServing() (MemoryPlan, error) {
	limit, err := memlimit.Find(c.Memory.Limit)
	plan := MemoryPlan{
		Stages: []string{"serve"}, Needs: append(c.Stages.MemoryNeeds(stages.MemoryLoad{FetchBytes: c.Kafka.FetchBytes()}),
			c.servingNeeds()...),
		Limit: limit.Bytes, Soft: limit.Soft(), Source: limit.Source,
	}
	return c.checked(plan, err)
}

// connectionBytes is the memory of an open HTTP connection: its buffers, the headers of a request,
// a goroutine.
const connectionBytes = 64 << 10

// servingNeeds returns the needs of serving rows in addition to following the current sets and
// models, if all slots have requests as large as the limits allow.
func (c *Config) servingNeeds() []stages.MemoryNeed {
	s := c.Serve
	setBytes := c.Stages.Topics.MaxMessageBytes // a feature set and a model must fit a message
	return []stages.MemoryNeed{
		{What: "serve: bodies and answers of requests", Bytes: s.Memory, Keys: []string{"serve.memory"}},
		// decoded and encoded rows, and the last results, which are kept for the next request
		{What: "serve: slots in which requests are worked on",
			Bytes: int64(s.Slots()) * (s.BudgetBytes + events.ChunkBytes + s.MaxResponseBytes),
			Keys:  []string{"serve.concurrency", "serve.budget_bytes", "serve.max_response_bytes"}},
		{What: "serve: connections", Bytes: int64(s.Connections) * connectionBytes, Keys: []string{"serve.connections"}},
		// the served pair, the next one, and the previous one as long as a request uses it
		{What: "serve: pairs of a feature set and a model", Bytes: 3 * 2 * setBytes,
			Keys: []string{"topics.max_message_bytes"}},
	}
}

// Over describes by how much the needs exceed the limit, and which settings help; empty if they fit
// or there is no limit.
func (p MemoryPlan) Over() string {
	if p.Limit == 0 || p.Bytes <= p.Soft {
		return ""
	}
	needs := slices.Clone(p.Needs)
	slices.SortStableFunc(needs, func(a, b stages.MemoryNeed) int { return cmp.Compare(b.Bytes, a.Bytes) })
	var largest, keys []string
	for _, need := range needs[:min(3, len(needs))] {
		largest = append(largest, fmt.Sprintf("%s %s", need.What, bytesize.Text(need.Bytes)))
		for _, key := range need.Keys {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	needed, usable := bytesize.Compared(p.Bytes, p.Soft)
	text := fmt.Sprintf("stages %s with %d partitions may need %s, of %s (%s) they may use %s; "+
		"most is for %s; a smaller %s would help", strings.Join(p.Stages, ", "), p.Partitions, needed,
		bytesize.Text(p.Limit), p.Source, usable, strings.Join(largest, ", "), strings.Join(keys, ", "))
	if p.Assumes != "" {
		text += "; assuming " + p.Assumes
	}
	return text
}

// checked returns a plan with its sum, and [Faults] if it does not fit.
func (c *Config) checked(plan MemoryPlan, err error) (MemoryPlan, error) {
	for _, need := range plan.Needs {
		plan.Bytes += need.Bytes
	}
	if err != nil {
		return plan, err
	}
	if over := plan.Over(); over != "" && c.Memory.Limit > 0 {
		k := newChecker(c, nil)
		return plan, Faults{k.fault("memory.limit", "too small: "+over)}
	}
	return plan, nil
}
