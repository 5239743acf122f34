// Package rowid decides what identifies a row, so that rows that must not be separated are always
// on the same side: copies of an event, or the events of one customer.
//
// A [Rule] names the identity: the content of a row, its place in the log, or the value of a group
// column. A [Hasher] computes identities of 64 bits from the columns of events, before they are
// encoded, so identities do not depend on a feature set. Features messages carry them. Whether a
// row is held out is decided from its identity with a tag and a seed: [training.HeldOut] for the
// rows that judge models, [scoring.HeldOut] for the rows of a sample that judge features.
//
// # The content of a row
//
// The content is every configured column with a value: feature columns, passthrough and label,
// whether or not an encoder uses them. An identifier or a time therefore tells repeated
// measurements from copies. Columns count by name and in any order; a null and an absent column are
// the same. For every column, with a = XXH64(name) and b = XXH64(name followed by a zero byte) with
// its lowest bit set, a value with the word v adds
//
//	high ⊕ low of the 128-bit product (v ⊕ a)·b
//
// to a sum of 64 bits. The identity is XXH64 of the sum, little-endian. The word of a number is the
// bits of its float64, with one zero and one NaN; a float32 is widened, so that 0.1 in float32 is
// another number than 0.1 in float64. The word of a text is the complement of XXH64 of its bytes,
// but that of the number if it is a finite decimal number of at most 40 characters, because a
// column may be text in one message or file and a number in another; a boolean is the text true or
// false. Dates and times are numbers of their Arrow unit, converted to seconds. A list is its
// elements, chained. Values of other types are texts, as Arrow prints them.
//
// # Groups and places
//
// The identity of a row with a group value is that of a row with only this column; a row without
// one is identified by its place. The identity of a place is XXH64 of partition, offset and row.
package rowid
