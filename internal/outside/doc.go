// Package outside bounds the JSON values that reach a process from elsewhere: documents on topics,
// documents in the metadata of Arrow messages, headers. The bound of a field is declared next to
// the field, in its struct tag or by its type, and [Shape] is the one reader of these declarations:
// [Shape.Check] walks the tokens of a text before anything is made of it, and writers check their
// own texts in the same way.
//
// Numbers are 0 to [MaxCount] unless their tag declares another range, so that their successors
// exist and the sums of lists of them fit an int64. Texts have at most [MaxText] bytes, lists as
// many elements as their tag declares.
package outside
