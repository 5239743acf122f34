// Package importgraph reads which package of this module imports which, and compares that with the directions in which
// imports may flow:
//
//	cmd ─▶ config, telemetry ─▶ stages, compare ─▶ the package of each stage ─▶ what stages share ─▶
//	       pipeline, datasets, training, scoring, arrowio ─▶ internal
//
// A package may skip a step but never go back or sideways, with few exceptions: arrowio puts the types of scoring and
// training on the wire and so knows them, datasets reads and encodes rows with arrowio, and scoring fits models with
// training to choose features. scoring and training know neither Kafka nor Arrow (they may import the standard library
// and a short list of modules), pipeline knows neither mathematics nor Arrow, arrowio does not know Kafka.
//
// [Read] parses the import clauses of every Go file, whatever its build tags, so that the rules also cover files for
// other processors and systems. [Check] is a pure function of the result and the [Rules], and is tested on made-up
// graphs. Tests may import sideways (another package's test kit) and any module, but never up.
package importgraph
