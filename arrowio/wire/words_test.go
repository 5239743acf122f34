package wire

import "testing"

func TestWords(t *testing.T) {
	f := mixedFeatureSet()
	var got []string
	for i := range f.Set.Features.Len() {
		got = append(got, f.Words(i))
	}
	diff(t, []string{
		"city, vip, pixels and 1 more", "vip, city, pixels and 1 more", "city, vip, pixels and 1 more",
		"city = <Köln>", "pixels[1] > -1.1518e+21 × age < 41.5",
		"vip = true", "city = São Paulo & co and pixels[0] ≤ 0.40888 and age ≥ 41.3",
	}, got)
}
