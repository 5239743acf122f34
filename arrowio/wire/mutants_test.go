package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/internal/hostile"
)

// hostileLimits are small enough to make a breach visible; documentCost is what parsing may
// allocate in addition, per byte of a message and in any case.
var hostileLimits = arrowio.Limits{MaxMessageBytes: 1 << 20, BudgetBytes: 1 << 20, MaxRows: 1000, MaxColumns: 100}

const documentCost, codecTables = 64, 1 << 20

// mutable is a message of this project with the JSON in it.
type mutable struct {
	*hostile.Message
	name    string
	message message
	keys    []string // of its metadata
	texts   []string
	tokens  [][][]int // of each text
}

// token is a number, word or name in JSON.
var token = regexp.MustCompile(`-?[0-9][0-9.eE+-]*|"[^"]*"|true|false|null`)

func mutables(t *testing.T) []*mutable {
	var all []*mutable
	messages := maps.Clone(decoders)
	maps.Copy(messages, rowMessages(t))
	for _, name := range slices.Sorted(maps.Keys(messages)) {
		m := messages[name]
		d := &mutable{Message: hostile.ArrowMessage(name, m.value), name: name, message: m, keys: []string{m.key}}
		if IsJSON(m.value) {
			d.Message = &hostile.Message{Name: name, Bytes: m.value, Order: binary.LittleEndian}
		}
		if m.key == KeyFeatureSet {
			d.keys = append(d.keys, KeyEncoder)
		}
		for _, key := range d.keys {
			text := m.text(key)
			d.texts = append(d.texts, text)
			d.tokens = append(d.tokens, token.FindAllStringIndex(text, -1))
		}
		all = append(all, d)
	}
	return all
}

// rowMessages are the messages of rows, which no process encodes again.
func rowMessages(t *testing.T) map[string]message {
	reading := func(key string, value []byte, read func(arrow.Record) error) message {
		decode := func(dec *arrowio.Decoder, value []byte) error {
			recs, err := dec.Decode(value)
			if err != nil {
				return err
			}
			defer releaseAll(recs)
			for _, rec := range recs {
				if err := read(rec); err != nil {
					return err
				}
			}
			return nil
		}
		return message{key, value, decode, decode}
	}
	return map[string]message{
		"features": reading(KeyFeatures, exampleFeatures(t), func(rec arrow.Record) error {
			info, err := ParseFeaturesInfo(rec.Schema())
			if err != nil {
				return err
			}
			rows, z, err := DecodeFeatures(rec, info.Features)
			if err != nil {
				return err
			}
			if len(z) != info.Features*len(rows) || !finite(z) {
				return fmt.Errorf("%w: %d rows, %d features", errUnstable, len(rows), len(z))
			}
			_, err = DecodeIdentities(rec)
			return err
		}),
		"rejected rows": reading(KeyRejectedRows, exampleRejectedRows(t), func(rec arrow.Record) error {
			rows, err := RejectedRowNumbers(rec)
			if err == nil && (int64(len(rows)) != rec.NumRows() || checkAscending(rows) != nil) {
				return fmt.Errorf("%w: rows %v", errUnstable, rows)
			}
			return err
		}),
	}
}

// TestMutants damages the messages that the stages read back, both their Arrow and their JSON. A
// refusal has a reason; an accepted message is encoded to one that decodes to the same.
func TestMutants(t *testing.T) {
	all := mutables(t)
	for _, d := range documents {
		if !slices.ContainsFunc(all, func(m *mutable) bool { return slices.Contains(m.keys, d.key) }) {
			t.Errorf("no mutants of %s", d.key)
		}
	}
	var messages []*hostile.Message
	for _, d := range all {
		messages = append(messages, d.Message)
	}
	dec := arrowio.NewDecoder(hostileLimits)
	of := all[0]
	hostile.Run(t, hostile.Suite{
		Make: func(r *rand.Rand, into []byte) []byte {
			of = all[r.IntN(len(all))]
			if r.IntN(4) == 0 || IsJSON(of.Bytes) && r.IntN(2) == 0 {
				return append(into, of.withOtherText(r)...)
			}
			return of.Mutate(r, into, messages)
		},
		Try: func(m *hostile.Meter, mutant []byte) (string, error) {
			m.Within(hostileLimits.BudgetBytes+documentCost*int64(len(mutant))+codecTables, func() {
				_ = of.message.decode(dec, mutant) // an error costs memory too
			})
			return documentReason(of.message.stable(dec, mutant))
		},
	}, 8_000)
}

// documentReason is the word for a decoder's error.
func documentReason(err error) (string, error) {
	switch {
	case err == nil:
		return hostile.Accepted, nil
	case errors.Is(err, errUnstable), strings.Contains(err.Error(), "unforeseen"):
		return "", err
	case errors.Is(err, ErrFormatVersion):
		return "format_version", nil
	case errors.Is(err, ErrHashMismatch):
		return "hash_mismatch", nil
	case errors.Is(err, ErrMalformed):
		return "malformed", nil
	case arrowio.Reason(err) != "":
		return arrowio.Reason(err), nil
	}
	return "", fmt.Errorf("no reason: %w", err)
}

// others replace tokens.
var others = []string{
	"0",
	"1",
	"-1",
	"0.5",
	"1e99",
	"1e-320",
	"-0",
	"2147483648",
	"4294967295",
	"1099511627776",
	"9223372036854775807",
	"9223372036854775808",
	"18446744073709551616",
	"1e400",
	"null",
	"true",
	`""`,
	`"x"`,
	"[]",
	"{}",
	"[[]]",
	`"\ud800"`,
	"1.5",
	`"0001-01-01T00:00:00Z"`,
	"[1,2,3]",
	`["a","a"]`,
	"",
}

// withOtherText is the message with tokens of its JSON changed, or with noise in it.
func (d *mutable) withOtherText(r *rand.Rand) []byte {
	i := r.IntN(len(d.texts))
	text, tokens := d.texts[i], d.tokens[i]
	if r.IntN(8) == 0 {
		m := &hostile.Message{Bytes: []byte(text), Order: binary.LittleEndian}
		text = strings.ToValidUTF8(string(m.Mutate(r, nil, []*hostile.Message{m})), "?")
	} else {
		for range 1 + r.IntN(2) {
			text = d.replaceToken(r, text, tokens)
			tokens = token.FindAllStringIndex(text, -1)
		}
	}
	return d.message.with(d.keys[i], text)
}

// replaceToken replaces one token by another.
func (d *mutable) replaceToken(r *rand.Rand, text string, tokens [][]int) string {
	if len(tokens) == 0 {
		return text
	}
	at := tokens[r.IntN(len(tokens))]
	other := others[r.IntN(len(others))]
	if r.IntN(3) == 0 {
		from := tokens[r.IntN(len(tokens))]
		other = text[from[0]:from[1]]
	}
	return text[:at[0]] + other + text[at[1]:]
}
