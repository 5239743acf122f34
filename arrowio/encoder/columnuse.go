package encoder

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
)

// Use says how a column of the events is used.
type Use string

// The uses of a column.
const (
	UseFeature     Use = "feature"
	UseLabel       Use = "label"
	UsePassthrough Use = "passthrough"
	UseExcluded    Use = "excluded"
	UseLeftOut     Use = "left out"
)

// ColumnUse reports how one column of the events is used. It is for people: nothing is computed
// from it.
type ColumnUse struct {
	Column string `json:"column"`
	// Type is the first Arrow type of the column other than null.
	Type string `json:"type"`
	Use  Use    `json:"use"`
	// Kind is the kind of a feature; Dims is its number of dimensions in x.
	Kind Kind `json:"kind,omitempty"`
	Dims int  `json:"dims,omitempty"`
	// Missing is the share of calibration rows without a usable value (for a vector, the share of
	// its numbers); 0 for columns that calibration does not read.
	Missing float64 `json:"missing"`
	// For strings: Distinct is the number of different values, at most the bound that the report
	// names; Kept is how many of them have their own dimension; Other is the share of calibration
	// rows that fall into *other*.
	Distinct int64   `json:"distinct,omitempty"`
	Kept     int     `json:"kept,omitempty"`
	Other    float64 `json:"other,omitempty"`
	// Clipped is the share of a feature's numbers that are beyond the clip.
	Clipped float64 `json:"clipped,omitempty"`
	// Reason is why the column was left out, or a note about it.
	Reason string `json:"reason,omitempty"`
}

// noteColumns records the columns of the first record, and the types of columns that had none
// before.
func (c *Calibrator) noteColumns() {
	if c.uses == nil {
		c.uses = make([]ColumnUse, c.schema.NumFields())
		for i, field := range c.schema.Fields() {
			c.uses[i] = ColumnUse{Column: field.Name, Type: typeText(field.Type), Use: c.options.useOf(field.Name)}
		}
	}
	for i := range c.uses {
		use := &c.uses[i]
		if use.Type != typeText(arrow.Null) {
			continue
		}
		if at := c.schema.FieldIndices(use.Column); len(at) > 0 {
			use.Type = typeText(c.schema.Field(at[0]).Type)
		}
	}
}

// typeText returns the name of a type. Strings are utf8 in any encoding.
func typeText(t arrow.DataType) string {
	if dictionary, ok := t.(*arrow.DictionaryType); ok {
		t = dictionary.ValueType
	}
	if t.ID() == arrow.LARGE_STRING {
		t = arrow.BinaryTypes.String
	}
	return t.String()
}

// useOf returns the use that the options give to a column.
func (o *Options) useOf(name string) Use {
	switch {
	case slices.Contains(o.Label, name):
		return UseLabel
	case slices.Contains(o.Features, name):
		return UseFeature
	case slices.Contains(o.Passthrough, name):
		return UsePassthrough
	case slices.Contains(o.Exclude, name) || len(o.Features) > 0:
		return UseExcluded
	default:
		return UseFeature
	}
}

// columnUses returns how the columns are used.
func (c *Calibrator) columnUses(report *Report, e *Encoder) []ColumnUse {
	uses := slices.Clone(c.uses)
	byName := make(map[string]*ColumnUse, len(uses))
	leftOut := make(map[string]string, len(report.LeftOut))
	for _, left := range report.LeftOut {
		leftOut[left.Column] = left.Reason
	}
	for i := range uses {
		use := &uses[i]
		byName[use.Column] = use
		if use.Use == UseLabel {
			use.Missing = 1 - float64(c.label.rows)/float64(c.rows)
		}
		if reason, left := leftOut[use.Column]; left {
			use.Use, use.Reason = UseLeftOut, reason
		}
	}
	features := make(map[string]*Column, len(e.Columns))
	for i := range e.Columns {
		features[e.Columns[i].Name] = &e.Columns[i]
	}
	for _, l := range c.columns {
		use, v := byName[l.name], l.verdict()
		l.describe(use, &v, c.rows)
		if feature := features[l.name]; feature != nil {
			l.describeFeature(use, feature, &v, c.rows)
		}
	}
	return uses
}

// note adds a note about the column.
func (u *ColumnUse) note(text string) {
	if u.Reason != "" {
		u.Reason += "; "
	}
	u.Reason += text
}

// describe reports the values of a column, whether it is a feature or not.
func (l *learned) describe(use *ColumnUse, v *verdict, rows int64) {
	use.Missing = float64(l.absent(v, rows)+l.nonFinite) / float64(rows*int64(max(1, l.want.width)))
	if l.texts != nil {
		use.Distinct = l.texts.values.distinct()
	}
}

// describeFeature reports the dimensions of a feature column.
func (l *learned) describeFeature(use *ColumnUse, c *Column, v *verdict, rows int64) {
	use.Kind, use.Dims = c.Kind, c.Width
	if use.Missing > 0.5 {
		use.note("most rows have no value in it")
	}
	if l.texts == nil {
		if words := c.words(); words != "" {
			use.note("dates " + words + overruleType)
		}
		return
	}
	if note := l.texts.note(v, len(c.Categories)); note != "" {
		use.note(note)
	}
	use.Kept = len(c.Categories)
	if c.Other {
		use.Other = float64(l.texts.rest(c.Categories)) / float64(rows)
		if use.Other > 0.5 && use.Reason != "" {
			use.Reason += fmt.Sprintf(", which are in %.0f %% of the rows", 100*(1-use.Other-use.Missing))
		}
	}
}
