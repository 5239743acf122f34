package wire

// MaxSequence is the greatest sequence number of an exploration. Number 1 follows it, so that no
// number, not even a forged one, ends explorations.
const MaxSequence = 1_000_000_000_000

// NextSequence returns the number after n.
func NextSequence(n int64) int64 {
	if n < 0 || n >= MaxSequence {
		return 1
	}
	return n + 1
}

// CompareSequences compares two numbers on their circle: it is positive if the way from b forward
// to a is shorter than the way back. Numbers that are given one after the other compare as
// integers.
func CompareSequences(a, b int64) int64 {
	const circle = MaxSequence + 1
	switch distance := a - b; {
	case distance > circle/2:
		return distance - circle
	case distance < -circle/2:
		return distance + circle
	default:
		return distance
	}
}

// validSequence reports whether n is a sequence number.
func validSequence(n int64) bool { return 0 <= n && n <= MaxSequence }
