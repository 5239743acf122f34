package kernel

// RoundUp returns the least multiple of step that is not below n.
func RoundUp(n, step int) int { return (n + step - 1) / step * step }
