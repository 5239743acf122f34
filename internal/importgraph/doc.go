// Package importgraph reads which package of this module imports which, and compares that with the
// direction in which imports are allowed to flow:
//
//	cmd ─▶ config, telemetry ─▶ stages, compare ─▶ the room of each stage ─▶ what rooms share ─▶
//	       pipeline, datasets, training, scoring, arrowio ─▶ internal
//
// A package may skip a step but never go back or sideways, with few exceptions: arrowio puts the types of
// scoring and training on the wire and so knows them, datasets reads and encodes rows by arrowio, and scoring fits
// models by training to choose features. scoring and training know neither Kafka nor Arrow
// (they may import the standard library and a short list of modules), pipeline knows neither mathematics
// nor Arrow, arrowio knows no Kafka.
//
// [Read] parses the import clauses of every Go file, whatever its build tags, so that a file for another
// processor or system is held to the rules too. [Check] is a pure function of what was read and of the
// [Rules], and is tested on graphs made up for it. Tests may import sideways (a kit of another package) and
// any module, but never up.
package importgraph
