package outside

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// color is a text with constants.
type color string

type part struct {
	Name string `json:"name" bound:"8"`
	Rows int64  `json:"rows"`
}

type embedded struct {
	Theta []float64 `json:"theta" bound:"list 3"`
	Inner string    `json:"inner"`
}

type example struct {
	embedded
	Named embedded   `json:"named"`
	Theta []float64  `json:"theta" bound:"list 1"` // hides the embedded one
	Parts []part     `json:"parts" bound:"list 2"`
	Texts []string   `json:"texts" bound:"list 3 of 4"`
	Pairs [2][]int64 `json:"pairs" bound:"list 2"`
	Seed  uint64     `json:"seed,string"`
	Share float64    `json:"share" bound:"0..1"`
	Least *float64   `json:"least" bound:"null"`
	Color color      `json:"color"`
	At    time.Time  `json:"at"`
	Small int32      `json:"small"`
	Yes   bool       `json:"yes"`
	Left  string     `json:"-"`
}

func TestCheck(t *testing.T) {
	shape := ShapeOf[example]()
	for text, valid := range map[string]bool{
		`{}`:               true,
		` {"yes" : true} `: true,
		``:                 false,
		`[]`:               false,
		`null`:             false,
		`{} {}`:            false,
		`{`:                false,
		`{"yes":`:          false,
		`{"yes":1}`:        false,
		`{"yes":null}`:     false,
		`{"parts":[]}`:     true,
		`{"parts":[{"name":"12345678","rows":1000000000000000}]}`: true,
		`{"parts":[{"name":"123456789"}]}`:                        false,
		`{"parts":[{"name":"\u00e9\u00e9\u00e9\u00e9"}]}`:         true,
		`{"parts":[{"name":"\u00e9\u00e9\u00e9\u00e9\u00e9"}]}`:   false,
		`{"parts":[{"rows":1000000000000001}]}`:                   false,
		`{"parts":[{"rows":-1}]}`:                                 false,
		`{"parts":[{"rows":1.5}]}`:                                false,
		`{"parts":[{"rows":1e2}]}`:                                false,
		`{"parts":[{"rows":"1"}]}`:                                false,
		`{"parts":[null]}`:                                        false,
		`{"parts":null}`:                                          false,
		`{"parts":{}}`:                                            false,
		`{"parts":[{},{},{}]}`:                                    false,
		`{"texts":["1234","","x"]}`:                               true,
		`{"texts":["12345"]}`:                                     false,
		`{"texts":["","","",""]}`:                                 false,
		`{"pairs":[[],[1,2]]}`:                                    true,
		`{"pairs":[[]]}`:                                          false,
		`{"pairs":[[],[],[]]}`:                                    false,
		`{"pairs":[[1,2,3],[]]}`:                                  false,
		`{"seed":"18446744073709551615"}`:                         true,
		`{"seed":"18446744073709551616"}`:                         false,
		`{"seed":1}`:                                              false,
		`{"seed":"-1"}`:                                           false,
		`{"share":1}`:                                             true,
		`{"share":0.5e0}`:                                         true,
		`{"share":1.5}`:                                           false,
		`{"share":-0.1}`:                                          false,
		`{"share":1e999}`:                                         false,
		`{"share":0.` + strings.Repeat("1", 100) + `}`:            false,
		`{"least":null}`:                                          true,
		`{"least":-1e300}`:                                        true,
		`{"least":1e309}`:                                         false,
		`{"color":"` + strings.Repeat("x", MaxWord) + `"}`:        true,
		`{"color":"` + strings.Repeat("x", MaxWord+1) + `"}`:      false,
		`{"at":"2026-11-03T12:30:00.5Z"}`:                         true,
		`{"at":"1970-01-01T00:00:00Z"}`:                           true,
		`{"at":"1969-12-31T23:59:59Z"}`:                           false,
		`{"at":"9999-12-31T23:59:59-01:00"}`:                      false,
		`{"at":"soon"}`:                                           false,
		`{"at":5}`:                                                false,
		`{"small":2147483646}`:                                    true,
		`{"small":2147483647}`:                                    false,
		`{"theta":[1]}`:                                           true,
		`{"theta":[1,2]}`:                                         false,
		`{"named":{"theta":[1,2,3],"inner":"x"}}`:                 true,
		`{"named":{"theta":[1,2,3,4]}}`:                           false,
		`{"inner":"x"}`:                                           true,
		`{"inner":5}`:                                             false,
		`{"Left":5,"left":[null]}`:                                true,
		`{"yes":true,"yes":true}`:                                 false,
		`{"x":{"a":1,"a":2}}`:                                     false,
		`{"YES":5}`:                                               true,
		`{"yes":true,"\u0079es":true}`:                            false,
		`{"x":` + strings.Repeat("[", 8) + strings.Repeat("]", 8) + `}`:             true,
		`{"x":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + `}`:           false,
		`{"x":` + strings.Repeat(`{"x":`, 20) + `1` + strings.Repeat("}", 20) + `}`: false,
		"{\"texts\":[\"\xff\"]}": false,
		`{"texts":["\ud800"]}`:   false,
	} {
		if err := shape.Check([]byte(text)); (err == nil) != valid || err != nil && !errors.Is(err, ErrBound) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A short text cannot take much memory, whatever fills its lists and objects.
func TestCheckBoundsMemory(t *testing.T) {
	type wide struct {
		Parts []struct {
			Numbers [64]int64 `json:"-"`
		} `json:"parts" bound:"list 1000000"`
	}
	shape := ShapeOf[wide]()
	texts := map[string]string{
		"elements": `{"parts":[` + strings.Repeat("{},", maxMemory/512+1) + `{}]}`,
		"nulls":    `{"parts":[` + strings.Repeat("null,", 1000) + `null]}`,
		"unknown":  `{"x":[` + strings.Repeat("[],", maxUnknownList) + `[]]}`,
		"members": `{"x":{` + strings.Repeat(`"y":0,`, 1) + `"z":0}` + func() (members string) {
			for i := range maxUnknownMembers + 1 {
				members += fmt.Sprintf(`,"m%d":0`, i)
			}
			return members
		}() + `}`,
	}
	for name, text := range texts {
		raw := []byte(text)
		if err := shape.Check(raw); !errors.Is(err, ErrBound) {
			t.Errorf("%s: %v", name, err)
		}
		allocated := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				_ = shape.Check(raw)
			}
		}).AllocedBytesPerOp()
		if allocated > 256<<10 {
			t.Errorf("%s: checking %d bytes allocates %d", name, len(raw), allocated)
		}
	}
}

func TestMember(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"v":"x"}`:                   `"x"`,
		`{"a":{"v":2},"v":[3]}`:             `[3]`,
		`{"v":1,"v":2}`:                     `1`,
		`{"a":[[[]]]}`:                      "",
		`[]`:                                "",
		``:                                  "",
		`{"a":`:                             "",
		`{"a":` + strings.Repeat("[", 5000): "",
		`{"a":` + strings.Repeat("[", 30) + strings.Repeat("]", 30) + `,"v":1}`: "",
	} {
		if got := string(Member([]byte(text), "v")); got != want {
			t.Errorf("%.40s: %s, want %s", text, got, want)
		}
	}
}

func TestShapesNeedBounds(t *testing.T) {
	for name, shape := range map[string]func(){
		"a list without a bound": func() {
			ShapeOf[struct {
				A []int `json:"a"`
			}]()
		},
		"a map": func() {
			ShapeOf[struct {
				A map[string]int `json:"a"`
			}]()
		},
		"an unnamed field": func() { ShapeOf[struct{ A int }]() },
		"an unknown range": func() {
			ShapeOf[struct {
				A int `json:"a" bound:"few"`
			}]()
		},
		"a bound on an object": func() {
			ShapeOf[struct {
				A part `json:"a" bound:"5"`
			}]()
		},
		"an empty text": func() {
			ShapeOf[struct {
				A string `json:"a" bound:"0"`
			}]()
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", name)
				}
			}()
			shape()
		}()
	}
}

func FuzzCheck(f *testing.F) {
	shape := ShapeOf[example]()
	f.Add([]byte(`{"parts":[{"name":"x","rows":5}],"pairs":[[],[1]],"least":null,"at":"2026-11-03T12:30:00Z"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := shape.Check(text); err != nil && !errors.Is(err, ErrBound) {
			t.Error(err)
		}
		Member(text, "at")
	})
}
