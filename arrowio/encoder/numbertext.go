package encoder

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// writtenNumber is a number as people write it. Where dots and commas allow two readings, the
// column decides between them.
type writtenNumber struct {
	// point is the value if the decimal mark is a point, comma if it is a comma; hasPoint and
	// hasComma report which readings exist.
	point, comma       float64
	hasPoint, hasComma bool
	// unit is the text before and after the number: a currency, "%", "kg".
	unit   string
	factor float64 // of a suffix such as k
	// code is set for digits alone that are no quantity: with a leading zero, or more than a
	// float64 holds.
	code bool
}

// The marks that stand for a minus sign and for spaces.
const minuses, spaces = "-\u2212\u2013\ufe63\uff0d", " \u00a0\u202f\u2009\t"

// parseWritten reads a number with thousands separators, decimal commas, a sign before or after it,
// parentheses for negatives, a currency, or a unit. It returns false for other text.
func parseWritten(text string) (w writtenNumber, ok bool) {
	body, negative, ok := w.cutUnit(strings.Trim(text, spaces))
	if !ok {
		return w, false
	}
	w.code = isCode(text)
	w.point, w.hasPoint = parseMarks(body, '.', ',')
	w.comma, w.hasComma = parseMarks(body, ',', '.')
	if negative {
		w.point, w.comma = -w.point, -w.comma
	}
	w.point *= w.factor
	w.comma *= w.factor
	return w, w.hasPoint || w.hasComma
}

// maxExactDigits is the number of digits of which a float64 holds every whole number.
const maxExactDigits = 15

// isCode reports whether a text consists of digits that are rather a name than a quantity.
func isCode(text string) bool {
	if len(text) < 2 || text[0] != '0' && len(text) <= maxExactDigits {
		return false
	}
	_, whole := digits(text)
	return whole
}

// numberStart is the text before the digits of a number.
type numberStart struct {
	currency    string
	signs, open int // signs, and opening parentheses
	negative    bool
}

// cutStart returns what follows the text before the digits of a number.
func (n *numberStart) cutStart(s string) (rest string, ok bool) {
	for len(s) > 0 && s[0] != '.' && s[0] != ',' && !isDigit(s[0]) {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case strings.ContainsRune(minuses, r):
			n.signs++
			n.negative = true
		case r == '+':
			n.signs++
		case r == '(':
			n.open++
			n.negative = true
		case strings.ContainsRune(spaces, r):
		default:
			if size = currencyLength(s); size == 0 || n.currency != "" {
				return "", false
			}
			n.currency = s[:size]
		}
		s = s[size:]
	}
	return s, true
}

// cutUnit returns the digits and marks of a number without its sign, and keeps the unit.
func (w *writtenNumber) cutUnit(s string) (body string, negative, ok bool) {
	var start numberStart
	if s, ok = start.cutStart(s); !ok {
		return "", false, false
	}
	end := numberLength(s)
	body, after := s[:end], strings.Trim(s[end:], spaces)
	if start.open > 0 {
		inner, closed := strings.CutSuffix(after, ")")
		if !closed {
			return "", false, false
		}
		after = strings.TrimRight(inner, spaces)
	}
	if r, size := utf8.DecodeLastRuneInString(after); size > 0 && strings.ContainsRune(minuses, r) {
		start.signs++
		start.negative = true
		after = strings.TrimRight(after[:len(after)-size], spaces)
	}
	if start.signs+start.open > 1 || body == "" || !isUnit(after) {
		return "", false, false
	}
	w.factor = 1
	if factor := multiples[after]; factor > 0 {
		w.factor = factor
		after = ""
	}
	w.unit = strings.TrimSpace(start.currency + " " + after)
	return body, start.negative, true
}

// multiples are the suffixes that multiply a number.
var multiples = map[string]float64{
	"k":    1e3,
	"K":    1e3,
	"M":    1e6,
	"mn":   1e6,
	"Mio":  1e6,
	"Mio.": 1e6,
	"B":    1e9,
	"bn":   1e9,
}

// isMoney reports whether a unit is a currency or a percent sign, which numbers of a column may
// have or lack.
func isMoney(unit string) bool {
	r, _ := utf8.DecodeRuneInString(unit)
	return currencyLength(unit) == len(unit) || unicode.Is(unicode.Sc, r) || unit == "%"
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// currencyLength is the length of the currency at the start of a text, 0 without one.
func currencyLength(s string) int {
	for _, name := range currencies {
		if strings.HasPrefix(s, name) {
			return len(name)
		}
	}
	if r, size := utf8.DecodeRuneInString(s); unicode.Is(unicode.Sc, r) {
		return size
	}
	return 0
}

// currencies are the currencies that are written with letters before a number.
var currencies = []string{
	"US$", "AU$", "CA$", "NZ$", "HK$", "R$", "A$", "C$", "Rs.", "Rs", "kr.", "kr", "Fr.", "zł", "Kč",
	"AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "IDR", "ILS", "INR", "JPY", "KRW",
	"MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RUB", "SEK", "SGD", "THB", "TRY", "TWD", "UAH", "USD", "VND", "ZAR",
}

// numberLength is the length of the digits, separators and exponent at the start of a text. A
// separator belongs to the number only before a digit.
func numberLength(s string) int {
	end := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case isDigit(s[i]):
			end = i + size
		case r == '.' && i == end:
			end = i + size // 5. is a number
		case i == end && (r == ',' || strings.ContainsRune(separators, r)):
		default:
			return end + exponentLength(s[end:])
		}
		i += size
	}
	return end
}

// separators separate thousands and nothing else.
const separators = "'\u2019" + spaces

// exponentLength is the length of an exponent at the start of a text, 0 without one.
func exponentLength(s string) int {
	if len(s) < 2 || s[0]|0x20 != 'e' {
		return 0
	}
	at := 1
	if s[1] == '+' || s[1] == '-' {
		at++
	}
	from := at
	for at < len(s) && isDigit(s[at]) {
		at++
	}
	if at == from {
		return 0
	}
	return at
}

// maxUnit bounds the bytes of a unit.
const maxUnit = 24

// isUnit reports whether a text after a number can be a unit: a short text without digits.
func isUnit(s string) bool {
	if s == "" {
		return true
	}
	first, _ := utf8.DecodeRuneInString(s)
	if len(s) > maxUnit || !utf8.ValidString(s) || !unicode.IsLetter(first) && !unicode.Is(unicode.Sc, first) &&
		!strings.ContainsRune("%‰°\"'′″", first) {
		return false
	}
	return !strings.ContainsAny(s, "0123456789,;:()[]{}-+_#&|\\<>=@*?!")
}

// parseMarks reads digits with a decimal mark and perhaps the other mark, spaces or apostrophes
// between thousands.
func parseMarks(body string, decimal, thousands byte) (float64, bool) {
	if plain, ok := digitsAndPoint(body, decimal); ok {
		v, err := strconv.ParseFloat(plain, 64)
		return v, err == nil
	}
	whole, fraction := body, ""
	if at := strings.LastIndexByte(body, decimal); at >= 0 {
		whole, fraction = body[:at], body[at+1:]
	}
	groups := strings.FieldsFunc(whole, func(r rune) bool {
		return r == rune(thousands) || strings.ContainsRune(separators, r)
	})
	if len(groups) < 2 || strings.Trim(fraction, "0123456789") != "" || !grouped(groups) {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.Join(groups, "")+"."+fraction, 64)
	return v, err == nil
}

// digitsAndPoint returns a number without thousands separators as strconv reads it.
func digitsAndPoint(body string, decimal byte) (string, bool) {
	marks := 0
	for i := range len(body) {
		switch c := body[i]; {
		case c == decimal:
			marks++
		case !isDigit(c) && c|0x20 != 'e' && c != '+' && c != '-':
			return "", false
		}
	}
	if decimal == ',' {
		body = strings.Replace(body, ",", ".", 1)
	}
	return body, marks <= 1
}

// grouped reports whether groups of digits are thousands: the first has up to three digits and does
// not begin with zero, the last has three, and those between have three, or two as in India.
func grouped(groups []string) bool {
	between := 3
	if len(groups) > 2 {
		between = len(groups[1])
	}
	for i, group := range groups {
		if _, ok := digits(group); !ok {
			return false
		}
		switch {
		case i == 0 && (len(group) > 3 || group[0] == '0'):
			return false
		case i == len(groups)-1 && len(group) != 3:
			return false
		case i > 0 && i < len(groups)-1 && (len(group) != between || between < 2 || between > 3):
			return false
		}
	}
	return true
}

// number reads a number in the form, false for a text that is none or has another unit.
func (f *Form) number(text string) (float64, bool) {
	if f.nulls.adds(text) {
		return 0, false
	}
	if v, ok := f.plain(text); ok {
		return v, finite(v)
	}
	w, ok := parseWritten(text)
	if !ok || w.unit != "" && w.unit != f.Unit {
		return 0, false
	}
	if f.DecimalComma {
		return w.comma, w.hasComma
	}
	return w.point, w.hasPoint
}

// plain reads digits with at most one point, the usual text of a number.
func (f *Form) plain(text string) (float64, bool) {
	if f.DecimalComma || text == "" || len(text) > maxPlain {
		return 0, false
	}
	for i := range len(text) {
		if c := text[i]; !isDigit(c) && c != '.' && (c != '-' || i > 0) {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// maxPlain bounds the length of a plain number.
const maxPlain = 32

// absences are the marks and words that people write where a value is absent, in lower case. In a
// column of numbers, dates or booleans they count as missing, in any number.
var absences = setOf(
	"", "-", "--", "---", "–", "—", "\u2212", ".", "..", "...", "…", "?", "??", "???", "*", "**", "/", "\\", "\\n", "_",
	":", "n/a", "#n/a", "na", "n.a.", "n.a", "n/d", "nd", "n.d.", "n.v.", "nv", "k.a.", "s/d", "none", "null", "nil",
	"nan", "<na>", "(null)", "(blank)", "(none)", "missing", "unknown", "unk", "undefined", "not available",
	"not applicable", "not known", "no data", "no value", "empty", "tbd", "tba", "pending", "#value!", "#div/0!", "#ref!",
)

func setOf(words ...string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

// maxAbsence bounds the bytes of such a mark.
const maxAbsence = 16

// isAbsence reports whether a text says that a value is absent.
func isAbsence(text string) bool {
	return len(text) <= maxAbsence && absences[strings.ToLower(strings.TrimSpace(text))]
}
