package kafka

// worstFetch is the greatest memory of one fetch: the largest batch as stored, the same batch
// decompressed with its records, and the list of aborted transactions.
func worstFetch(budget int) int64 { return 2*int64(budget) + int64(budget)/4 + 1<<10 }

// LeastFetchMemory is the smallest fetch_memory for a batch_budget_bytes: one worst fetch of data
// and one of the project's own state, so that neither waits for the other.
func LeastFetchMemory(budget int) int64 { return 2 * worstFetch(budget) }

// codecBytes is the greatest memory of all decoders together while they decompress: the window of
// the largest zstd frame, or several smaller ones.
const codecBytes = 48 << 20

// FetchBytes is the greatest memory of all fetches, regardless of the number of partitions:
// fetch_memory and the decoders.
func (c Config) FetchBytes() int64 { return c.withDefaults().FetchMemory + codecBytes }
