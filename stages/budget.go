package stages

import (
	"cmp"
	"slices"
)

// Budget is the memory that a setting allows for something, and how much of it is in use.
type Budget struct {
	Setting     string // its key in the configuration
	Limit, Used int64  // bytes
}

// Settings that are budgets whose use is known.
const (
	budgetCandidates = "exploration.candidate_memory"
	budgetScoredRows = "exploration.row_memory"
	budgetTrainRows  = "train.row_memory"
)

type meteredBudget struct {
	limit int64
	used  func() int64
}

// meter makes the use of a budget known.
func (c *Counters) meter(setting string, limit int64, used func() int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metered[setting] = meteredBudget{limit, used}
}

// budgets tells of those that are metered, by name; the caller holds the lock.
func (c *Counters) budgets() []Budget {
	var budgets []Budget
	for setting, budget := range c.metered {
		budgets = append(budgets, Budget{Setting: setting, Limit: budget.limit, Used: budget.used()})
	}
	slices.SortFunc(budgets, func(a, b Budget) int { return cmp.Compare(a.Setting, b.Setting) })
	return budgets
}
