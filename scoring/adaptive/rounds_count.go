package adaptive

// Rounds is how many rounds [Learn] makes.
const Rounds = lastRound + 1
