package bytecache

import "testing"

// TestCacheDropsLeastRecentlyUsed within its bytes.
func TestCacheDropsLeastRecentlyUsed(t *testing.T) {
	c := Cache[int, string]{Most: 3 * (100 + entryBytes)}
	for i := range 3 {
		c.Put(i, "x", 100)
	}
	c.Get(0)
	c.Put(3, "y", 100)
	c.Put(4, "too large", 10_000)
	c.Put(3, "z", 100)
	for key, want := range map[int]string{0: "x", 1: "", 2: "x", 3: "z", 4: ""} {
		if got, ok := c.Get(key); got != want || ok != (want != "") {
			t.Errorf("%d: %q", key, got)
		}
	}
	if c.Bytes() != c.Most {
		t.Errorf("%d bytes of %d", c.Bytes(), c.Most)
	}
	c.Put(5, "all", c.Most-entryBytes)
	if _, ok := c.Get(5); !ok || c.Bytes() != c.Most {
		t.Errorf("%d bytes", c.Bytes())
	}
}
