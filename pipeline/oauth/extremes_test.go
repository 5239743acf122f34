package oauth

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/internal/hostile"
)

// Every value of the table, with every extreme: a token is refused, or it is in force and its end
// is a time that can be shown.
func TestExtremesOfTokens(t *testing.T) {
	tried := 0
	check := func(name, text string) {
		tried++
		token, err := tokenOf(text, 0)
		if err != nil {
			return
		}
		if now := time.Now(); !token.lives(now) ||
			!token.end.IsZero() && (token.end.Year() > 9999 || token.end.Before(now)) ||
			len(token.Bearer()) > maxTokenBytes ||
			len(token.String()) > 1000 {
			t.Errorf("%s: %d bytes, end %v", name, len(token.Bearer()), token.end)
		}
	}
	for _, s := range Outside() {
		for _, v := range s.Values {
			for _, e := range hostile.Extremes(v.Shape) {
				answer := map[string]any{"access_token": "abc", "expires_in": 60}
				if v.Name == "exp" {
					claims := hostile.JSON(hostile.WithValue(map[string]any{"iss": "x"}, v.Name, e.Value))
					check(v.Name+" "+e.Name, "h."+base64.RawURLEncoding.EncodeToString([]byte(claims))+".s")
					continue
				}
				check(v.Name+" "+e.Name, hostile.JSON(hostile.WithValue(answer, v.Name, e.Value)))
			}
		}
	}
	for _, text := range []string{
		`{"access_token":"a","expires_in":9223372036854775807}`, `{"access_token":"a","expires_in":1e300}`,
		`{"access_token":"a","expires_in":"60"}`, `{"access_token":"a","expires_in":1e-300}`, strings.Repeat(".", 3),
		fmt.Sprintf(`{"access_token":%q}`, strings.Repeat("x", maxTokenBytes+1)),
	} {
		check(fmt.Sprintf("%.60s", text), text)
	}
	t.Logf("%d values", tried)
}
