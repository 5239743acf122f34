package config

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
)

// bounds are the least and the greatest value of a numeric key, from the tag range of its field.
// The tag zero names the meaning of 0 where that is outside of them.
type bounds struct {
	least, greatest reflect.Value
	zero            string
}

// readBounds reads the tags of a field; nil without bounds.
func readBounds(name, unit string, field reflect.StructField) *bounds {
	text, ok := field.Tag.Lookup("range")
	if !ok {
		return nil
	}
	b := &bounds{least: reflect.New(field.Type).Elem(), greatest: reflect.New(field.Type).Elem()}
	b.zero = field.Tag.Get("zero")
	least, greatest, _ := strings.Cut(text, ",")
	for value, text := range map[reflect.Value]string{b.least: least, b.greatest: greatest} {
		if err := assignText(value, unit, text); err != nil {
			panic(fmt.Sprintf("config: range of key %s: %v", name, err))
		}
	}
	return b
}

// holds reports whether a value is within the bounds.
func (b *bounds) holds(v reflect.Value) bool {
	return b.zero != "" && v.IsZero() || compare(b.least, v) <= 0 && compare(v, b.greatest) <= 0
}

// compare compares two numbers of the same type. NaN is below all others.
func compare(a, b reflect.Value) int {
	if a.CanFloat() {
		return cmp.Compare(a.Float(), b.Float())
	}
	return cmp.Compare(a.Int(), b.Int())
}

// text describes the bounds.
func (b *bounds) text(typeName string) string {
	text := fmt.Sprintf("%s to %s", fieldText(b.least, typeName), fieldText(b.greatest, typeName))
	if b.zero != "" {
		text += ", or 0 for " + b.zero
	}
	return text
}

// bounds checks every numeric key on its own. Other rules compare keys with each other.
func (k *checker) bounds() {
	for i := range k.schema.keys {
		key := &k.schema.keys[i]
		if key.bounds != nil && !key.bounds.holds(reflect.ValueOf(k.config).Elem().FieldByIndex(key.index)) {
			k.rule(false, key.Name, "want "+key.bounds.text(key.Type))
		}
	}
}
