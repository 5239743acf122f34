// Package bytecache is a cache that is bounded in bytes.
//
// A [Cache] keeps the most recently used entries. Its owner states the size of an entry and guards
// the cache, which is not safe for concurrent use.
package bytecache

import "container/list"

// Cache keeps values by key, of at most Most bytes together.
type Cache[K comparable, V any] struct {
	Most int64

	used    int64
	entries map[K]*list.Element
	order   list.List // of *entry, the one used last at the front
}

type entry[K comparable, V any] struct {
	key   K
	value V
	bytes int64
}

// entryBytes is the cache's own memory for an entry, with a key of some words.
const entryBytes = 256

// Get returns the value of a key, and whether there is one.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	at, ok := c.entries[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(at)
	return at.Value.(*entry[K, V]).value, true
}

// Put sets the value of a key and its size in bytes, and drops the least recently used entries. A
// value that is too large for the cache is not kept.
func (c *Cache[K, V]) Put(key K, value V, bytes int64) {
	if at, ok := c.entries[key]; ok {
		c.drop(at)
	}
	if bytes += entryBytes; bytes > c.Most {
		return
	}
	for c.used+bytes > c.Most {
		c.drop(c.order.Back())
	}
	if c.entries == nil {
		c.entries = make(map[K]*list.Element)
	}
	c.entries[key] = c.order.PushFront(&entry[K, V]{key, value, bytes})
	c.used += bytes
}

func (c *Cache[K, V]) drop(at *list.Element) {
	e := c.order.Remove(at).(*entry[K, V])
	delete(c.entries, e.key)
	c.used -= e.bytes
}

// Bytes is the size of all entries.
func (c *Cache[K, V]) Bytes() int64 { return c.used }
