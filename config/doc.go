// Package config composes the settings of the packages below it into one configuration, loads it
// and checks it.
//
// A configuration is one YAML file of sections and keys. Every key has a default, so an empty file
// is a configuration. Values come from four layers:
//
//	defaults  ◀  file  ◀  environment  ◀  overrides (flags)
//
// Each layer replaces keys of those to its left. A command may put its own defaults between
// defaults and file ([Load]). An environment variable is named after its key: EERF_, the section,
// two underscores, the key, all in capitals; EERF_TRAIN__HELD_OUT_FRACTION is
// train.held_out_fraction. A list is written with commas or as YAML ([a, "b, c"]). Variables that
// begin with EERF_ but have no double underscore, such as those that Kubernetes makes for services,
// are ignored, unless one more underscore would make them a key.
//
// Values are read as text, so 010 is the column or password 010, not eight. Durations have a unit
// (30s, 168h); sizes are bytes or have a unit (8MiB, 64kB).
//
// [Load] reports all faults in one list, [Faults]: unknown keys with the nearest known one, values
// of the wrong type, values out of bounds, and relations that do not hold. A key that is already
// faulty is left out of the relations, so that one mistake is one fault.
//
// The reference text of a key (meaning, unit) is a tag of its struct field, next to the code that
// it configures; [Keys], [Explain] and [Config.Print] read it from there. Values of secret keys
// appear in no fault and no redacted print.
//
// A Config must not be used by several goroutines while it is being changed; once loaded, it is
// only read.
package config
